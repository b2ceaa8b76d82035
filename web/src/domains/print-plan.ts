import type { DomainFix, DomainLine, DomainReport } from './api.ts'

/** How much of a report is printed; the rest is counted. */
export type PrintPlan = {
  /** Records to publish, from the first. */
  fixes: number
  /** By the name of a line: its details and results, from the first. */
  lines: ReadonlyMap<string, PrintedLine>
}
export type PrintedLine = { details: number; evidence: number }

/** Pixels of two A4 pages below the verdict and the mail path. */
const PAGES_PX = 1_500
/** Of these for records to publish, so that the lines have a page. */
const FIXES_PX = 700
/** Of these for the details and results of one line, which no page break divides. */
const LINE_PX = 400
/** Lines are printed in two columns, whose ends stay partly empty. */
const COLUMNS = 1.7
const ROW_PX = 15
/** Characters in a row of a record, and of a column. */
const RECORD_CHARACTERS = 100
const COLUMN_CHARACTERS = 50
/** Rows of one sentence, as the style sheets limit them. */
const MAX_SENTENCE_ROWS = 4
const MAX_EVIDENCE = 4

/** Plans a report on two pages. Problems have more room than what is in order. */
export function planPrint({ lines, fixes }: Pick<DomainReport, 'lines' | 'fixes'>): PrintPlan {
  const printed = countWithin(fixes.map(fixHeight), FIXES_PX)
  const taken = sum(fixes.slice(0, printed).map(fixHeight)) + sum(lines.map(lineHeight)) / COLUMNS
  let free = (PAGES_PX - taken) * COLUMNS
  const plan = new Map<string, PrintedLine>()
  for (const line of lines.toSorted(byUrgency)) {
    const room = Math.min(free, LINE_PX)
    const details = countWithin(line.details.map(detailHeight), room)
    const used = sum(line.details.slice(0, details).map(detailHeight))
    const heights = line.evidence.slice(0, MAX_EVIDENCE).map(evidenceHeight)
    const evidence = countWithin(heights, room - used)
    free -= used + sum(heights.slice(0, evidence))
    plan.set(line.name, { details, evidence })
  }
  return { fixes: printed, lines: plan }
}

const URGENCY = { bad: 0, warning: 1, unknown: 2, good: 3 }
const byUrgency = (one: DomainLine, other: DomainLine) => URGENCY[one.state] - URGENCY[other.state]

/** How many of the heights fit, from the first. */
function countWithin(heights: number[], space: number): number {
  let left = space
  const end = heights.findIndex((height) => (left -= height) < 0)
  return end === -1 ? heights.length : end
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const rows = (text: string, characters: number) => Math.max(1, Math.ceil(text.length / characters))

function sentenceRows(text: string): number {
  return Math.min(MAX_SENTENCE_ROWS, rows(text, COLUMN_CHARACTERS))
}

function fixHeight({ published, value, changes, caution }: DomainFix): number {
  const reasons = new Set(changes.map(({ reason }) => reason))
  const texts = [...published, value, ...reasons, ...(caution ? [caution] : [])]
  return 56 + ROW_PX * sum(texts.map((text) => rows(text, RECORD_CHARACTERS)))
}

/** The title and sentence of a line, its frame, and its share of the heading of its stage. */
function lineHeight({ title, summary }: DomainLine): number {
  return 30 + ROW_PX * sentenceRows(`${title} ${summary}`)
}

function detailHeight(detail: string): number {
  return 4 + ROW_PX * sentenceRows(detail)
}

function evidenceHeight({ value }: DomainLine['evidence'][number]): number {
  return ROW_PX * (1 + sentenceRows(value))
}
