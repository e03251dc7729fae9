// JSON.parse takes half a second for a megabyte of brackets. Counting the brackets takes a thousandth of that.

/** Whether arrays and objects are nested deeper than `most` levels. Brackets in strings do not count. */
export function isDeeperThan(json: string, most: number): boolean {
  let depth = 0;
  for (let i = 0; i < json.length; i++) {
    switch (json.charCodeAt(i)) {
      case 0x22: // "
        for (i++; i < json.length && json.charCodeAt(i) !== 0x22; i++) {
          if (json.charCodeAt(i) === 0x5c) i++; // a backslash escapes the next character
        }
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > most) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return false;
}
