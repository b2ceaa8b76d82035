/** What strangers' IMAP servers may make us hold, and how much we keep on the way. Sizes in bytes. */
export const LIMITS = {
  /** One line without its literals: `UID SEARCH` over half a million messages still fits. */
  lineBytes: 4 * 1024 * 1024,
  /** A server that sends less than this in `TIMES.silence`, and ends no answer, is as good as silent. */
  trickleBytes: 1024,
  /** The code and words of a status line; PERMANENTFLAGS and APPENDUID of thousands fit. */
  statusTextBytes: 64 * 1024,
  /** A literal that nobody takes as a stream: header fields, folder names, small bodies. */
  inlineLiteralBytes: 16 * 1024 * 1024,
  /** A larger body is never in memory whole: it streams. */
  streamAboveBytes: 1024 * 1024,
  /** Lists within lists; we ask for nothing deeper than three. */
  nesting: 32,
  /** Fetched bodies waiting for their consumer; above, the source is not read. */
  waitingBodyBytes: 4 * 1024 * 1024,
  /** Chunks of one streamed body waiting for their consumer. */
  waitingChunkBytes: 1024 * 1024,
  /** Metadata rows waiting for their consumer. */
  waitingRows: 5_000,
  /** Bodies asked for in one FETCH, by number and by announced size. */
  fetchGroup: { messages: 100, bytes: 4 * 1024 * 1024 },
  /** FETCH commands sent ahead of the one being answered. */
  fetchesAhead: 3,
  /** A larger literal asks first even where it need not: a refusal then costs no upload. */
  nonSyncLiteralBytes: 4 * 1024 * 1024,
  /** APPEND commands and bytes not yet answered. */
  appendWindow: { commands: 64, bytes: 8 * 1024 * 1024 },
  /** Words of a server that we repeat to people, in characters. */
  serverTextChars: 300,
  /** A keyword; Dovecot refuses above 100 on some formats. */
  keywordChars: 100,
  /** Messages of one mailbox. */
  messages: 5_000_000,
  /** Folders of one account that we list. */
  folders: 20_000,
} as const

/** Milliseconds. */
export const TIMEOUTS = {
  /** Connect, TLS, greeting and sign-in together. */
  signInMs: 15_000,
  /** Silence of a server that owes us an answer; servers that commit 30 MB to slow disks need a while. */
  silenceMs: 120_000,
  /**
   * A server that owes us an answer and says only that it is still there (`* OK Still here`), as servers do for minutes
   * while they search, sort or index a large mailbox. Each line ends the silence, so that this ends what else would not.
   */
  standstillMs: 15 * 60_000,
  /** LOGOUT is a courtesy. */
  logoutMs: 1_000,
} as const
