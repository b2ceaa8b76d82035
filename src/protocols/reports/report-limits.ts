const MB = 1024 * 1024

/** Limits on the cost of a report from any sender. Sizes in bytes or characters. */
export const REPORT_LIMITS = {
  /**
   * Content of all archives of one mail or file: a report of 100,000 records is some 75 MB of XML.
   */
  inflated: 160 * MB,
  /**
   * An archive, mail or JSON document that must be in memory whole; a mail of this size is the
   * largest that is taken.
   */
  whole: 25 * MB,
  /** Files of one archive, parts of one mail: a year's reports of one domain fit. */
  entries: 1_000,
  /** Files and mails in all archives and mails of one delivery together: nested ones multiply. */
  files: 2_000,
  /** Unreadable items of a delivery that are named one by one. The others are only counted. */
  unread: 100,
  /** Archives and mails in one another; seen in the wild: mail, mail, zip, gzip. */
  depth: 6,
  /** Bytes at the start of a file that decide on its type. */
  head: 64 * 1024,
  /**
   * Content that is unpacked at once and buffered: nearly every report; some three milliseconds.
   */
  small: MB,
  /** The least that a chunk of an archive counts: a million empty ones take time, too. */
  chunk: 4_096,
  /**
   * Lines of a mail that may begin a part. Real mails have dozens; the parser keeps some kilobytes
   * for each part.
   */
  boundaries: 10_000,
  /**
   * Lines of a mail: the largest in base64 has 340,000. The parser's time grows faster than they
   * do.
   */
  lines: 400_000,
  /**
   * A message with more lines than this must have this many bytes per line on average; base64 has
   * 78.
   */
  sparseLines: 50_000,
  lineBytes: 40,
  /** All fields of a mail; mail servers take much less. */
  header: 256 * 1024,
  /** A mail up to this size is taken apart at once; a larger one in a thread. */
  atOnce: 64 * 1024,
  /** Threads that take mails apart, megabytes of each, and milliseconds for one mail. */
  threads: 2,
  threadMemory: 512,
  threadTime: 30_000,
  /** Records of one report. */
  records: 500_000,
  /** Elements in one another; a report has six. */
  elementDepth: 20,
  /** Elements of one record: some two hundred DKIM results. */
  elements: 1_000,
  /** Elements of records that are in an element which may never end; memory has them until then. */
  misplaced: 20_000,
  /** Attributes of one element. */
  attributes: 50,
  /** Characters that the XML parser collects for one text, comment or attribute. */
  piece: MB,
  /** Text of one element; the rest is truncated. */
  text: 4_096,
  /** A report’s ID; the rest is truncated. */
  name: 512,
  /** A comment in plain words; the rest is truncated. */
  comment: 1_024,
  /** Places where the XML is not well-formed, but can be read past. */
  blemishes: 1_000,
  /**
   * Objects and lists of a JSON document: one of a megabyte in nothing but brackets takes a hundred
   * in memory.
   */
  brackets: 200_000,
  /** Characters of an SMTP TLS report: the parser works in one go. Real ones have some thousand. */
  tlsReport: 4 * MB,
  /** Policies of an SMTP TLS report, and failures of all of them together. */
  tlsPolicies: 500,
  tlsFailures: 10_000,
  /** Texts in one list of an SMTP TLS report, such as the lines of a policy. */
  tlsTexts: 100,
} as const
