/** A file in a ZIP archive. */
export type ZipEntry = { name: string; isEncrypted: boolean }

const MAX_ENTRIES = 1000
const CENTRAL_ENTRY = Buffer.from('PK\u0001\u0002', 'latin1')

/** Lists the files of a ZIP archive by its central directory, without unpacking anything. */
export function listZipEntries(bytes: Buffer): ZipEntry[] {
  const entries: ZipEntry[] = []
  let at = bytes.indexOf(CENTRAL_ENTRY)
  while (at >= 0 && at + 46 <= bytes.length && entries.length < MAX_ENTRIES) {
    const length = bytes.readUInt16LE(at + 28)
    entries.push({
      name: bytes.toString('utf8', at + 46, at + 46 + length),
      isEncrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
    })
    at = bytes.indexOf(CENTRAL_ENTRY, at + 46 + length)
  }
  return entries
}
