import type { MailAuthResult } from '../../src/diagnostics/shapes.ts'
import type { DomainReport } from '../../src/domains/shapes.ts'

/** What a page says of a domain, and what the check of its mail says. */
export type Page = {
  report: Pick<DomainReport, 'verdict' | 'lines' | 'fixes'>
  warnings: Pick<MailAuthResult['warnings'][number], 'about' | 'severity' | 'message'>[]
}

/** Something that is called good or bad, and where. */
type Claim = { subject: string; isGood: boolean; where: string }

/** The subject that lines share with others: both judge the same record. */
const SHARED: Record<string, string> = { senders: 'spf' }

/**
 * Everything that a page calls good or bad: lines, the records and hosts that they show, records that
 * a fix replaces, and sentences, by the line or the warning in which they stand.
 */
function claimsOf({ report, warnings }: Page): Claim[] {
  const claims: Claim[] = []
  const add = (subject: string, isGood: boolean, where: string) =>
    claims.push({ subject, isGood, where })
  for (const { name, title, state, isUsed, summary, details, evidence } of report.lines) {
    const isGood = state === 'good'
    if (isGood || state === 'bad' || state === 'warning') {
      if (isUsed) add(name, isGood, `the line ${title}`)
      // A warning, such as a neutral all, says nothing against the servers that are listed.
      if (isUsed && state !== 'warning') add(SHARED[name] ?? name, isGood, `the line ${title}`)
    }
    if (isGood) for (const text of [summary, ...details]) add(text, true, `the line ${title}`)
    for (const { label, value, state: shown } of evidence)
      if (shown !== 'unknown') add(`${label} ${value}`, shown === 'good', `the line ${title}`)
  }
  for (const { line, name, type, published, severity } of report.fixes) {
    if (severity === 'suggestion') continue
    add(line, false, 'a fix')
    for (const text of published) add(`${name} ${type} ${text}`, false, 'a fix')
  }
  for (const { about, severity, message } of warnings) {
    if (severity === 'info') continue
    add(about, false, 'a warning')
    add(message, false, 'a warning')
  }
  return claims
}

/** What is called good in one place and bad in another. */
export function contradictions(page: Page): string[] {
  const subjects = Map.groupBy(claimsOf(page), ({ subject }) => subject)
  const mixed = [...subjects].flatMap(([subject, claims]) => {
    const good = claims.find(({ isGood }) => isGood)
    const bad = claims.find(({ isGood }) => !isGood)
    return good && bad ? [`“${subject}” is good in ${good.where}, and bad in ${bad.where}`] : []
  })
  const { verdict, lines } = page.report
  const wrong = lines.filter(
    ({ isUsed, state }) => isUsed && (state === 'bad' || state === 'warning'),
  )
  const whole = verdict.state === 'good' ? wrong.map(({ title }) => `all is good, and ${title} is not`) : [] // prettier-ignore
  return [...mixed, ...whole, ...denials(sentencesOf(page.report))]
}

export function sentencesOf({ verdict, lines }: Page['report']): string[] {
  return [verdict.sentence, ...lines.flatMap(({ summary, details }) => [summary, ...details])]
}

const NEGATIONS = new Set(['no', 'not', 'never', 'cannot', 'without', 'nothing', 'none'])
/** Words without which a clause says the same. */
const FILLERS = new Set(['a', 'an', 'the', 'any', 'only', 'every', 'all', 'also', 'still', 'do', 'doe', 'is', 'are', 'be', 'was', 'can', 'could', 'may', 'has', 'have', '…']) // prettier-ignore

type Clause = { sentence: string; words: string[]; isDenied: boolean }

/** Sentences of which one says what the other denies, in its first clause. */
function denials(sentences: string[]): string[] {
  const clauses = [...new Set(sentences)].map(clauseOf).filter(({ words }) => words.length > 0)
  return clauses
    .filter(({ isDenied }) => isDenied)
    .flatMap((denial) =>
      clauses
        .filter((clause) => !clause.isDenied && isSame(clause.words, denial.words))
        .map(({ sentence }) => `“${sentence}” and “${denial.sentence}”`),
    )
}

function clauseOf(sentence: string): Clause {
  const [first = ''] = withoutNames(sentence)
    .replaceAll(/\([^)]*\)/g, '')
    .split(/[:.,;]/)
  const words = first
    .toLowerCase()
    .split(/\s+/)
    .map((word) => (word.length > 3 ? word.replace(/s$/, '') : word))
  return {
    sentence,
    isDenied: words.filter((word) => NEGATIONS.has(word)).length % 2 === 1,
    words: words.filter((word) => word !== '' && !NEGATIONS.has(word) && !FILLERS.has(word)),
  }
}

/** Whether two clauses are the same, or one is the start of the other. */
function isSame(one: string[], other: string[]): boolean {
  const length = Math.min(one.length, other.length)
  if (length < 3 && one.length !== other.length) return false
  return one.slice(0, length).join(' ') === other.slice(0, length).join(' ')
}

/** Without names, texts and numbers, in which a repeated sentence differs. */
export const withoutNames = (sentence: string) =>
  sentence.replaceAll(/“[^”]*”|[\w*-]+(?:\.[\w-]+)+|\d+|(?<=[Ss]electors? )\S+/g, '…')
