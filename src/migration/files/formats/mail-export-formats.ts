/** The formats in which mail can be written to files. */
export const EXPORT_FORMATS = ['maildir', 'mbox', 'eml'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
