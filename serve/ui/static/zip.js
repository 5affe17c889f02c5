// A zip archive (stored, not compressed) of {name, data}; PKWARE's APPNOTE 6.3.

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

export function crc32(data) {
  let value = 0xffffffff;
  for (const byte of data) value = TABLE[(value ^ byte) & 0xff] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

const UTF8_NAMES = 0x800;

function fields(...pairs) {
  const bytes = new Uint8Array(pairs.reduce((sum, [, size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [value, size] of pairs) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return bytes;
}

export function zip(entries) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { name, data } of entries) {
    const path = new TextEncoder().encode(name);
    const common = [
      [20, 2], [UTF8_NAMES, 2], [0, 2], [0, 2], [0x21, 2],
      [crc32(data), 4], [data.length, 4], [data.length, 4], [path.length, 2], [0, 2],
    ];
    const local = fields([0x04034b50, 4], ...common);
    directory.push(
      fields([0x02014b50, 4], [20, 2], ...common, [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]),
      path,
    );
    parts.push(local, path, data);
    offset += local.length + path.length + data.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = fields(
    [0x06054b50, 4], [0, 2], [0, 2], [entries.length, 2], [entries.length, 2],
    [size, 4], [offset, 4], [0, 2],
  );
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
