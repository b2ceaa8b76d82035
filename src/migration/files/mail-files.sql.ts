/** A message of a file or folder, as an IMAP server would describe it. */
export type StoredMessage = {
  uid: number
  /** Bytes with CRLF line ends. */
  size: number
  flags: readonly string[]
  /** INTERNALDATE, such as ` 1-Jul-2024 08:09:10 +0200`; null where it is unknown. */
  date: string | null
  /** The value of its Message-ID field, with one character per byte. */
  messageId: string | null
  /** Reads it with CRLF line ends, in parts of limited size that are valid until the next one. */
  read: () => Iterable<Buffer>
  /** Reads it likewise into a buffer of its size, where it can be read as a whole. */
  fill: ((target: Buffer) => void) | null
}

/** A folder of messages, ascending by UID. */
export type StoreFolder = {
  /** Levels are separated by slashes. */
  path: string
  uidValidity: number
  uidNext: number
  messages: StoredMessage[]
  bytes: number
}

/** A message while it arrives. */
export type IncomingMessage = {
  write(chunk: Buffer): void
  /** Removes what was written. */
  discard(): void
}

/** The flags and date of a message that arrives; the date is in milliseconds since 1970. */
export type IncomingMeta = { flags: readonly string[]; moment: number }

/** Mail in files, which an engine session reads and writes. */
export type MailStore = {
  folders: Map<string, StoreFolder>
  /** Present where messages can be added. */
  writer?: StoreWriter
}

type StoreWriter = {
  /** Whether the format has flags. */
  hasFlags: boolean
  create(path: string): void
  begin(folder: StoreFolder): IncomingMessage
  /**
   * Stores messages, all durably when it resolves.
   * @returns their UIDs
   */
  commit(
    folder: StoreFolder,
    messages: readonly { incoming: IncomingMessage; meta: IncomingMeta }[],
  ): Promise<number[]>
  addFlags(folder: StoreFolder, uids: ReadonlySet<number>, flags: readonly string[]): void
}
