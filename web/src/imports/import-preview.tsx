import type { ImportReport } from '../../../src/http/shapes.ts'
import { Status, type Tone } from '../ui/feedback/status.tsx'
import { Muted } from '../ui/layout/page.tsx'
import classes from './import-dialog.module.css'
import { describeProblem, importDialog as messages, resultNames } from './messages.ts'
import type { ParsedLine } from './parse-lines.ts'

type PreviewProps = {
  lines: ParsedLine[]
  /** The lines that are sent, in the order of the results. */
  ready: ParsedLine[]
  report: ImportReport | null
}

/** Lines that are shown; the sentence above counts all of them. */
const MAX_SHOWN = 600

/** Every line with its verdict: before it is sent ours, then that of the service. */
export function ImportPreview({ lines, ready, report }: PreviewProps) {
  const resultOf = new Map(report?.results.map((result, at) => [ready[at]?.line, result]))
  const verdicts = lines.map((line) => ({
    line,
    verdict: verdictOf(line, resultOf.get(line.line)),
  }))
  // What needs attention comes first.
  const sorted = verdicts.toSorted(
    (one, other) => Number(one.verdict.tone === 'good') - Number(other.verdict.tone === 'good'),
  )
  return (
    <>
      {report === null && (
        <p role="status">{messages.summary(ready.length, lines.length - ready.length)}</p>
      )}
      <div className={classes.preview} tabIndex={0} role="region" aria-label={messages.preview}>
        <table>
          <thead>
            <tr>
              {messages.columns.map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, MAX_SHOWN).map(({ line: { line, name, text, label }, verdict }) => (
              <tr key={line}>
                <td>{line}</td>
                <th scope="row">
                  {name || text}
                  {label && <small>{label}</small>}
                </th>
                <td>
                  <Status tone={verdict.tone}>{verdict.word}</Status>
                  {verdict.detail && <small>{verdict.detail}</small>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > MAX_SHOWN && <Muted>{messages.truncated(MAX_SHOWN, sorted.length)}</Muted>}
    </>
  )
}

type Verdict = { tone: Tone; word: string; detail?: string | null }

function verdictOf(
  { problem }: ParsedLine,
  result: ImportReport['results'][number] | undefined,
): Verdict {
  if (problem)
    return {
      tone: problem.kind === 'duplicate' ? 'unknown' : 'warn',
      word: describeProblem(problem),
    }
  if (!result) return { tone: 'good', word: messages.ready }
  const { status, message } = result
  const word = resultNames[status]
  if (status === 'added') return { tone: 'good', word }
  return status === 'exists' ? { tone: 'info', word } : { tone: 'bad', word, detail: message }
}
