// The worker of the map: it draws, and saves files.

import type { PainterReply, PainterRequest } from './map-client.js';
import { createPicture, type Picture } from './picture.js';

let picture: Picture | undefined;

self.onmessage = ({ data }: MessageEvent<PainterRequest>) => {
  if ('scene' in data) picture = createPicture(data.points, data.labels, data.scene);
  else if ('look' in data) picture?.show(data.look);
  else {
    const reply = (message: PainterReply) => data.to.postMessage(message);
    picture?.save(data.save).then(
      (file) => reply({ file }),
      (error) => reply({ error: error instanceof Error ? error.message : String(error) }),
    );
  }
};
