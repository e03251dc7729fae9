// What the page calls its controls, by the option that each of them sets; what is wrong with an option is said by this name.

export const LABELS = {
  users: 'Users',
  items: 'Items',
  count: 'Count',
  sep: 'Columns are parted by',
  header: 'The first row names the columns',
  multigraph: 'Keep counts',
  rejects: 'Set bad rows aside',
  features: 'Features',
  model: 'Model',
  seed: 'Seed',
  iterations: 'Iterations',
  engine: 'Engine',
  testUsers: 'Held-out users',
  testItems: 'Test items',
} as const;
