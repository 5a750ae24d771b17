/** What a file is, by what is in it: names lie. */

/** `what` is for a sentence: "a PDF document". `mediaType` is `application/octet-stream` for what nobody knows. */
export type Kind = { mediaType: string; what: string };

type Known = Kind & { at?: number; begins: string };

/** How files begin, as Latin-1 text; the first that fits. */
const KNOWN: readonly Known[] = [
  { begins: "\x89PNG\r\n\x1a\n", mediaType: "image/png", what: "a PNG picture" },
  { begins: "\xff\xd8\xff", mediaType: "image/jpeg", what: "a JPEG picture" },
  { begins: "GIF87a", mediaType: "image/gif", what: "a GIF picture" },
  { begins: "GIF89a", mediaType: "image/gif", what: "a GIF picture" },
  { begins: "WEBP", at: 8, mediaType: "image/webp", what: "a WebP picture" },
  { begins: "WAVE", at: 8, mediaType: "audio/wav", what: "a WAV sound" },
  { begins: "ID3", mediaType: "audio/mpeg", what: "an MP3 sound" },
  { begins: "%PDF-", mediaType: "application/pdf", what: "a PDF document" },
  { begins: "BM", mediaType: "image/bmp", what: "a BMP picture" },
  { begins: "II*\0", mediaType: "image/tiff", what: "a TIFF picture" },
  { begins: "MM\0*", mediaType: "image/tiff", what: "a TIFF picture" },
  { begins: "ftypheic", at: 4, mediaType: "image/heic", what: "a HEIC picture" },
  { begins: "ftypavif", at: 4, mediaType: "image/avif", what: "an AVIF picture" },
  { begins: "ftyp", at: 4, mediaType: "video/mp4", what: "a film" },
  { begins: "OggS", mediaType: "audio/ogg", what: "an Ogg sound" },
  { begins: "PK\x03\x04", mediaType: "application/zip", what: "a ZIP archive (or an Office document)" },
  { begins: "\x1f\x8b", mediaType: "application/gzip", what: "a gzip archive" },
];

/** Tells the kind of some bytes. */
export function kindOf(data: Uint8Array): Kind {
  const start = Buffer.from(data.subarray(0, 64)).toString("latin1");
  const known = KNOWN.find(({ begins, at = 0 }) => start.startsWith(begins, at) && isPlausible(begins, data));
  if (known) return { mediaType: known.mediaType, what: known.what };
  // The frames of an MP3 without a tag: eleven bits that are set, then layer 3.
  if (data[0] === 0xff && (data[1]! & 0xe6) === 0xe2) return { mediaType: "audio/mpeg", what: "an MP3 sound" };
  if (!isText(data)) return { mediaType: "application/octet-stream", what: "a file of an unknown kind" };
  return /^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<svg\b/i.test(start)
    ? { mediaType: "text/plain", what: "an SVG drawing, which is text" }
    : { mediaType: "text/plain", what: "text" };
}

/** Two letters alone are the beginning of many a text. */
const isPlausible = (begins: string, data: Uint8Array): boolean => begins.length > 2 || !isText(data);

function isText(data: Uint8Array): boolean {
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(data).includes("\0");
  } catch {
    return false;
  }
}
