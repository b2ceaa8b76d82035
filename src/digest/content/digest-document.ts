/** The content of a digest, which is rendered as HTML and as text. All strings are one line. */
export type DigestDocument = {
  subject: string
  /** What clients show beside the subject in the list of messages. */
  preheader: string
  title: string
  /** The workspace and the period. */
  subtitle: string
  verdict: { tone: Tone; title: string; text: string }
  /** Instead of sections, where nothing happened. */
  quiet: string[]
  sections: Section[]
  /** The dashboard. */
  homeUrl: string
  footer: Footer
}

export type Tone = 'bad' | 'warning' | 'good' | 'neutral'

export type Section = {
  title: string
  /** A sentence above the rows. */
  lead?: string
  items: Item[]
  rates?: PassRate[]
  /** How many rows are left out, and the page that shows all. */
  more: number
  url: string
}

export type Item = {
  tone: Tone
  /** One or two words that classify the row, so that its color is never alone. */
  label: string
  title: string
  detail?: string
  url?: string
}

/** DMARC results of one domain. */
export type PassRate = {
  domain: string
  url: string
  /** 0 to 1; null without messages. */
  share: number | null
  /** `98.7%`. */
  rate: string
  /** `48,120 messages, +0.4 points`. */
  summary: string
  tone: Tone
  notes: { tone: Tone; text: string }[]
}

type Footer = {
  reason: string
  next: string | null
  settingsUrl: string
  /** Null in a preview. */
  unsubscribeUrl: string | null
}
