// English plurals of the words that table headers use.

const IRREGULAR: Readonly<Record<string, string>> = {
  person: 'people',
  child: 'children',
  man: 'men',
  woman: 'women',
  foot: 'feet',
  tooth: 'teeth',
  mouse: 'mice',
  goose: 'geese',
  leaf: 'leaves',
  shelf: 'shelves',
  wolf: 'wolves',
  knife: 'knives',
  life: 'lives',
  hero: 'heroes',
  potato: 'potatoes',
  tomato: 'tomatoes',
  movie: 'movies',
  cookie: 'cookies',
  vertex: 'vertices',
  matrix: 'matrices',
  medium: 'media',
  genus: 'genera',
  criterion: 'criteria',
};
/** Words with one form for singular and plural. */
const UNCHANGED = new Set(
  'series species news anime manga sheep fish aircraft software music staff'.split(' '),
);
const SINGULARS = new Map(Object.entries(IRREGULAR).map(([one, many]) => [many, one]));

/** 'customer' → 'customers', 'category' → 'categories', 'person' → 'people'; only the last of several words changes. */
export function plural(noun: string): string {
  const { before, last, lower } = lastWord(noun);
  if (UNCHANGED.has(lower)) return noun;
  const irregular =
    IRREGULAR[lower] ??
    (/(?<!hu)man$/.test(lower) && lower.length > 5 ? last.replace(/man$/, 'men') : undefined);
  if (irregular !== undefined) return before + irregular;
  if (/[^aeiou]y$/.test(lower)) return `${before}${last.slice(0, -1)}ies`;
  if (/[^aeiou]is$/.test(lower)) return `${before}${last.slice(0, -2)}es`;
  return before + last + (/(s|x|z|ch|sh)$/.test(lower) ? 'es' : 's');
}

/** The singular of a plural; any other word stays. */
export function singular(noun: string): string {
  const { before, last, lower } = lastWord(noun);
  if (UNCHANGED.has(lower)) return noun;
  const irregular =
    SINGULARS.get(lower) ?? (/[a-z]{3}men$/.test(lower) ? last.replace(/men$/, 'man') : undefined);
  if (irregular !== undefined) return before + irregular;
  if (/[^aeiou]ies$/.test(lower) && lower.length > 4) return `${before}${last.slice(0, -3)}y`;
  if (/(ss|sh|ch|x|zz|us)es$/.test(lower)) return before + last.slice(0, -2);
  if (/[^aeiou]yses$/.test(lower) || /[^aeiou]eses$/.test(lower)) return `${before}${last.slice(0, -2)}is`;
  if (/s$/.test(lower) && !/(ss|us|is)$/.test(lower) && lower.length > 3) return before + last.slice(0, -1);
  return noun;
}

function lastWord(noun: string): { readonly before: string; readonly last: string; readonly lower: string } {
  const at = noun.lastIndexOf(' ') + 1;
  const last = noun.slice(at);
  return { before: noun.slice(0, at), last, lower: last.toLowerCase() };
}
