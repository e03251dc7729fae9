// The labels of the page's controls, by option. Error messages name options by these labels.

export const LABELS = {
  users: 'Users',
  items: 'Items',
  count: 'Count',
  time: 'Time',
  halfLife: 'Recent rows count more',
  next: 'Growth',
  usersTimes: 'Growth',
  sep: 'Columns are separated by',
  header: 'The first row names the columns',
  multigraph: 'Keep counts',
  rejects: 'Set bad rows aside',
  features: 'Features',
  model: 'Model',
  seed: 'Seed',
  iterations: 'Iterations',
  engine: 'Engine',
  holdOut: 'Keep a test part from the models',
  testUsers: 'Held-out users',
  testItems: 'Test items',
  filter: 'Filter',
} as const;
