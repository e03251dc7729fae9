// What a list rests on.

/** The user's items, few of them, or what most users have, because nothing is known. */
export type Basis = 'personal' | 'few' | 'popular';

/** Likes below which a list rests on little; docs/appendix/serving.md has how much lists of such users change. */
export const FEW_LIKES = 5;

/** `likes`: items of the user that the model knows. */
export function basisOf(likes: number): Basis {
  if (likes === 0) return 'popular';
  return likes < FEW_LIKES ? 'few' : 'personal';
}
