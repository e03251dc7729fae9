/** Milliseconds that a frame may take while the map moves; beyond, fewer points are drawn, but not fewer than these. */
const SLOW = 50;
const FEWEST = 5000;

/** How many points a machine draws fast enough to follow a hand: all of them, where there is a GPU. */
export function createPace(all: number): { count(): number; time(): void } {
  let count = all;
  return {
    count: () => count,
    /** Looks how long the frame takes that was just asked for. */
    time() {
      requestAnimationFrame((began) =>
        requestAnimationFrame((ended) => {
          const took = ended - began;
          if (took > SLOW) count = Math.min(all, Math.max(FEWEST, count >> 1));
          else if (took < SLOW / 2) count = Math.min(all, Math.ceil(1.25 * count));
        }),
      );
    },
  };
}
