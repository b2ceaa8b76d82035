import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Choice } from '../../ui/forms/choice.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import type { Field, ReadMailboxes } from './api.ts'
import { form as messages, table } from './messages.ts'
import classes from './batches.module.css'

type PreviewProps = {
  read: ReadMailboxes
  /** The columns that were chosen since; null for those that were read. */
  chosen: (Field | null)[] | null
  onColumns: (columns: (Field | null)[]) => void
}

/** @property lacksServers the form has no host yet for lines without one */
type ListProps = PreviewProps & { lacksServers: boolean }

/** What was read from a list: its columns, which can be changed, and the problem of each line. */
export function ListPreview({ read, chosen, lacksServers, onColumns }: ListProps) {
  const { format, valid, invalid, total, mailboxes } = read
  const isWaiting = lacksServers && mailboxes.some(hasNoHost)
  return (
    <div className={classes.input}>
      <div role="status">
        {format === 'unknown' ? (
          <Notice tone="warn">{messages.unknown}</Notice>
        ) : isWaiting ? (
          <Notice tone="info">{messages.enterServers}</Notice>
        ) : (
          <Notice tone={invalid > 0 ? 'warn' : 'good'}>
            {messages.recognized[format]} {messages.summary(valid, invalid)}
          </Notice>
        )}
      </div>
      <ColumnMapping read={read} chosen={chosen} onColumns={onColumns} />
      {format !== 'unknown' && (
        <div
          className={classes.preview}
          tabIndex={0}
          role="region"
          aria-label={messages.previewLabel}
        >
          <table>
            <thead>
              <tr>
                {messages.previewColumns.map((title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {mailboxes.map((mailbox) => (
                <Line
                  key={mailbox.line}
                  mailbox={mailbox}
                  isWaiting={lacksServers && hasNoHost(mailbox)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {format !== 'unknown' && mailboxes.length < total && (
        <Muted>{messages.shown(mailboxes.length, total)}</Muted>
      )}
    </div>
  )
}

type ReadLine = ReadMailboxes['mailboxes'][number]

const hasNoHost = ({ source, destination }: ReadLine) =>
  source.host === null || destination.host === null

function Line({ mailbox, isWaiting }: { mailbox: ReadLine; isWaiting: boolean }) {
  const { line, source, destination, problem, warning } = mailbox
  const { tone, word } = isWaiting ? WAITING : verdictOf(mailbox)
  return (
    <tr>
      <td>{line}</td>
      <th scope="row">{table.account(source.user, source.host)}</th>
      <td>{table.account(destination.user, destination.host)}</td>
      <td>
        <Status tone={tone}>{word}</Status>
        {!isWaiting && (problem ?? warning) && <small>{problem ?? warning}</small>}
      </td>
    </tr>
  )
}

const WAITING = { tone: 'unknown', word: messages.waiting } as const

function verdictOf({ problem, warning }: ReadLine): { tone: Tone; word: string } {
  if (problem) return { tone: 'bad', word: messages.invalid }
  return warning ? { tone: 'warn', word: messages.warning } : { tone: 'good', word: messages.ready }
}

const IGNORE = ''
const CHOICES = [
  { value: IGNORE, name: messages.ignore },
  ...Object.entries(messages.fields).map(([value, name]) => ({ value, name })),
]

function ColumnMapping({ read, chosen, onColumns }: PreviewProps) {
  const { header, sample } = read
  const columns = chosen ?? read.columns
  return (
    <fieldset className={classes.columns}>
      <legend>{messages.columnsTitle}</legend>
      {columns.map((field, at) => {
        const name = header?.[at] || messages.column(at)
        return (
          <div key={at} className={classes.column}>
            <strong>{name}</strong>
            <small>{sample[at] || '–'}</small>
            <Choice
              label={name}
              value={field ?? IGNORE}
              choices={CHOICES}
              onChange={(value) =>
                onColumns(columns.with(at, value === IGNORE ? null : (value as Field)))
              }
            />
          </div>
        )
      })}
    </fieldset>
  )
}
