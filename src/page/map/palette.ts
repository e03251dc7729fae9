/** A colour for each feature. Hues are a golden angle apart, so that neighbours in the list differ. */
export function featureColours(features: number, dark: boolean): Uint8Array {
  const colours = new Uint8Array(3 * features);
  for (let k = 0; k < features; k++) {
    const hue = (k * 137.508) % 360;
    colours.set(fromHsl(hue, 0.55 + 0.2 * (k % 2), (dark ? 0.66 : 0.4) + 0.06 * (k % 3)), 3 * k);
  }
  return colours;
}

export function cssColour(colours: Uint8Array, feature: number): string {
  return `rgb(${colours[3 * feature]} ${colours[3 * feature + 1]} ${colours[3 * feature + 2]})`;
}

function fromHsl(hue: number, saturation: number, light: number): [number, number, number] {
  const part = (n: number) => {
    const k = (n + hue / 30) % 12;
    const a = saturation * Math.min(light, 1 - light);
    return Math.round(255 * (light - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}
