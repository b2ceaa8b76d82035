import { MINUTE_MS } from '../../time.ts'

/**
 * Limits on what an untrusted IMAP server can make us hold, and on what is in transit. Sizes are in
 * bytes.
 */
export const IMAP_LIMITS = {
  /** One line without its literals: `UID SEARCH` over half a million messages still fits. */
  lineBytes: 4 * 1024 * 1024,
  /**
   * A server that sends less than this in `TIMEOUTS.silenceMs`, and ends no response, counts as
   * silent.
   */
  trickleBytes: 1024,
  /**
   * The code and text of a status line. PERMANENTFLAGS and APPENDUID of thousands of messages fit.
   */
  statusTextBytes: 64 * 1024,
  /** A literal without a sink: header fields, folder names, small bodies. */
  inlineLiteralBytes: 16 * 1024 * 1024,
  /** A larger body is never in memory as a whole: it is streamed. */
  streamAboveBytes: 1024 * 1024,
  /** Nested lists. No command needs more than three levels. */
  nesting: 32,
  /** Fetched bodies that wait for their consumer. Above it, the source is not read. */
  waitingBodyBytes: 4 * 1024 * 1024,
  /** Chunks of one streamed body that wait for their consumer. */
  waitingChunkBytes: 1024 * 1024,
  /** Metadata rows that wait for their consumer. */
  waitingRows: 5_000,
  /** Bodies in one FETCH, by number and by reported size. */
  fetchGroup: { messages: 100, bytes: 4 * 1024 * 1024 },
  /** Messages that a server refuses alone, one after another, because it is busy. */
  busyInARow: 3,
  /** Messages whose metadata a server refuses alone, before any of their folder is read. */
  refusedRows: 20,
  /** FETCH commands sent ahead of the one being answered. */
  fetchesAhead: 3,
  /**
   * A larger literal waits for a continuation even where it need not: a rejection then costs no
   * upload.
   */
  nonSyncLiteralBytes: 4 * 1024 * 1024,
  /** APPEND commands and bytes that wait for a response. */
  appendWindow: { commands: 64, bytes: 8 * 1024 * 1024 },
  /** Characters of a server’s text that are shown to people. */
  serverTextChars: 300,
  /** Characters of a keyword; Dovecot rejects more than 100 in some formats. */
  keywordChars: 100,
  /** Messages of one mailbox. */
  messages: 5_000_000,
  /** Folders of one account that are listed. */
  folders: 20_000,
} as const

/** Timeouts in milliseconds. */
export const TIMEOUTS = {
  /** Connect, TLS, greeting and sign-in together. */
  signInMs: 15_000,
  /** Silence while a response is due. Servers that commit 30 MB to slow disks need a while. */
  silenceMs: 120_000,
  /**
   * Time while a response is due and the server sends only keep-alives (`* OK Still here`), as
   * servers do for minutes while they search, sort or index a large mailbox. Each such line ends
   * the silence, so this limit ends what the other does not.
   */
  standstillMs: 15 * MINUTE_MS,
  /**
   * Silence within a literal after a line that would end the command: the server announced more
   * bytes than it has.
   */
  shortLiteralMs: 5_000,
  /** LOGOUT is a courtesy. */
  logoutMs: 1_000,
} as const
