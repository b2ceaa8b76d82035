import { clipText } from '../../../clip-text.ts'

/** What a spam filter of the operator says about a mail. */
export type EngineResult = {
  engine: 'rspamd' | 'spamassassin'
  /** `not-checked`: the filter did not answer. */
  state: 'checked' | 'not-checked'
  /** Points, and those from which the filter rejects or marks a mail; null without an answer. */
  score: number | null
  threshold: number | null
  /** What the filter would do, in its own word. */
  action: string | null
  /** Its rules that matched, the heaviest first. */
  symbols: EngineSymbol[]
  /** Why there is no answer, as a sentence. */
  reason: string | null
}

export type EngineSymbol = { name: string; score: number; description: string }

const MAX_SYMBOLS = 60

/** A spam filter. It receives the mail and what SMTP said about it, and never throws. */
export type Engine = (mail: EngineMail, signal: AbortSignal) => Promise<EngineResult>

export type EngineMail = {
  content: Buffer
  ip: string | null
  helo: string | null
  mailFrom: string | null
  rcptTo: string | null
  /** The reverse name of the address, if it is confirmed. */
  hostname: string | null
  /** `TLSv1.3`, or null for a connection without TLS. */
  tlsVersion: string | null
}

export function noAnswer(engine: EngineResult['engine'], reason: string): EngineResult {
  return {
    engine,
    state: 'not-checked',
    score: null,
    threshold: null,
    action: null,
    symbols: [],
    reason,
  }
}

/** The heaviest symbols first, each with a short description. */
export function sortSymbols(symbols: EngineSymbol[]): EngineSymbol[] {
  return symbols
    .toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score) || a.name.localeCompare(b.name))
    .slice(0, MAX_SYMBOLS)
    .map(({ name, score, description }) => ({
      name: name.slice(0, 80),
      score,
      description: clipText(description, 300),
    }))
}
