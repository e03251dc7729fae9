// The data that benchmarks read in place: the one list of them.

const FOLDER = process.env.GRAPHEX_DATA ?? '../shared/data';
export const SETS: Readonly<Record<string, string>> = {
  'simulated-small': '@simulated-small',
  movietweetings: `${FOLDER}/movietweetings/ratings.dat.gz`,
  'online-retail': `${FOLDER}/online-retail/customer_product_qty.tsv.gz`,
  'julia-general': `${FOLDER}/julia-general/package_depends.tsv.gz`,
  goodbooks: `${FOLDER}/goodbooks/to_read.csv.gz`,
  'acl-abstracts': `${FOLDER}/acl-abstracts/paper_abstract_words.tsv.gz`,
};

/** The sets with these names, in this order. */
export function setsNamed(...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => {
      const source = SETS[name];
      if (source === undefined) throw new Error(`${name}: there are ${Object.keys(SETS).join(', ')}`);
      return [name, source];
    }),
  );
}
