/** A message as it was found in a file, before it has a UID. */
export type FoundMessage = {
  /** Identifies it in its file or folder over runs, whatever its flags are. */
  key: string
  size: number
  flags: string[]
  /** Null where neither the file nor its header has one. */
  date: string | null
  messageId: string | null
  /** The X-Gmail-Labels of an export by Google Takeout. */
  labels?: string | null
  read: () => Iterable<Buffer>
  fill: ((target: Buffer) => void) | null
}
