/** A frame that takes more milliseconds than SLOW is followed by fewer points, but never fewer than FEWEST. */
const SLOW = 50;
const FEWEST = 5000;

/** The number of points that a machine draws fast enough while the map moves: all of them with a GPU. */
export function createPace(all: number): { count(): number; time(): void } {
  let count = all;
  return {
    count: () => count,
    /** Measures the frame that was requested last. */
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
