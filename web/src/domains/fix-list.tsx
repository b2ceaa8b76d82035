import { useQuery } from '@tanstack/react-query'
import { Fragment, memo, useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { CopyButton } from '../ui/actions/copy.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Card, Muted, Row, Section, Stack } from '../ui/layout/page.tsx'
import { PrintOnly } from '../ui/layout/print-only.tsx'
import { BulletList } from '../ui/lists/bullet-list.tsx'
import { ExactTime } from '../ui/text/date-text.tsx'
import { recordQuery, type DomainFix, type DomainReport, type RecordState } from './api.ts'
import classes from './fix-list.module.css'
import { fixes as messages } from './messages.ts'
import { diffRecords, type DiffTerm } from './record-diff.ts'

type FixListProps = {
  report: Pick<DomainReport, 'domain' | 'fixes' | 'lines'>
  /** Called once a record is published. Without it, records are only shown. */
  onPublished?: (() => void) | undefined
  /** Records that are printed, from the first; all without it. */
  printed?: number | undefined
}

/**
 * The records to publish, most urgent first: each complete, as a difference, with its reasons. Then
 * the problems that no record fixes.
 */
export const FixList = memo(function FixList({ report, onPublished, printed }: FixListProps) {
  const { fixes, lines } = report
  const others = lines.filter(
    ({ state, name }) => state === 'bad' && !fixes.some(({ line }) => line === name),
  )
  return (
    <>
      {fixes.length > 0 && <RecordList {...{ report, onPublished, printed }} />}
      {others.length > 0 && (
        <Section title={messages.others}>
          <BulletList>
            {others.map(({ name, title, summary }) => (
              <li key={name}>
                <a href={`#line-${name}`}>{title}</a>: {summary}
              </li>
            ))}
          </BulletList>
        </Section>
      )}
    </>
  )
})

function RecordList({ report, onPublished, printed = report.fixes.length }: FixListProps) {
  const { domain, fixes } = report
  return (
    <Section title={messages.title}>
      <Muted>{onPublished ? messages.explanation : messages.sharedExplanation}</Muted>
      <div className={classes.fixes}>
        {fixes.map((fix, index) => (
          <div key={`${fix.name} ${fix.type}`} data-unprinted={index >= printed || undefined}>
            <FixCard domain={domain} fix={fix} {...(onPublished && { onPublished })} />
          </div>
        ))}
        {printed < fixes.length && (
          <PrintOnly>{messages.notPrinted(fixes.slice(printed).map(({ name }) => name))}</PrintOnly>
        )}
      </div>
    </Section>
  )
}

const SEVERITY_TONES = { bad: 'bad', warning: 'warn', suggestion: 'info' } as const

type FixCardProps = { domain: string; fix: DomainFix; onPublished?: () => void }

function FixCard({ domain, fix, onPublished }: FixCardProps) {
  const { name, type, severity, changes, caution } = fix
  return (
    <Card>
      <Stack>
        <div className={classes.head}>
          <h3>
            {name} <small>{type}</small>
          </h3>
          <Status tone={SEVERITY_TONES[severity]}>{messages.severities[severity]}</Status>
        </div>
        <RecordDiff fix={fix} />
        <BulletList>
          {[...new Set(changes.map(({ reason }) => reason))].map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </BulletList>
        {caution && <Notice tone="info">{caution}</Notice>}
        {onPublished && <Publication domain={domain} fix={fix} onPublished={onPublished} />}
      </Stack>
    </Card>
  )
}

/** Copies the record, and follows it until it is published. */
function Publication({ domain, fix, onPublished }: Required<FixCardProps>) {
  const [isWatching, setWatching] = useState(false)
  return (
    <>
      <Row>
        <span onClick={() => setWatching(true)}>
          <CopyButton text={fix.value} what={messages.copyRecord(fix.name)} />
        </span>
        <Button size="small" kind="quiet" onClick={() => setWatching(!isWatching)}>
          {isWatching ? messages.stop : messages.watch}
        </Button>
      </Row>
      <div role="status">
        {isWatching && <RecordWatch domain={domain} fix={fix} onPublished={onPublished} />}
      </div>
    </>
  )
}

/** What is published, and what to publish in its place. */
function RecordDiff({ fix: { published, value } }: { fix: DomainFix }) {
  const [first, ...others] = published
  const terms = first === undefined ? null : diffRecords(first, value)
  return (
    <pre className={classes.diff} tabIndex={0} aria-label={messages.proposed}>
      {terms && <RecordLine sign="−" terms={terms.before} />}
      {others.map((other) => (
        <RecordLine key={other} sign="−" terms={[{ text: other, isChanged: true }]} />
      ))}
      <RecordLine sign="+" terms={terms?.after ?? [{ text: value, isChanged: true }]} />
    </pre>
  )
}

/** A record, in which the changed terms stand out. */
function RecordLine({ sign, terms }: { sign: '−' | '+'; terms: DiffTerm[] }) {
  const Changed = sign === '+' ? 'ins' : 'del'
  return (
    <span className={classes.record} data-sign={sign}>
      {terms.map(({ text, isChanged }, index) => (
        <Fragment key={index}>
          {index > 0 && ' '}
          {isChanged ? <Changed>{text}</Changed> : text}
        </Fragment>
      ))}
    </span>
  )
}

/** Asks the name servers of the zone until they publish the record. */
function RecordWatch({ domain, fix, onPublished }: Required<FixCardProps>) {
  const { data: record, error } = useQuery(recordQuery(domain, fix))
  if (error) return <Notice tone="unknown">{error.message}</Notice>
  if (!record) return <Notice tone="info">{messages.looking}</Notice>
  const { matches, cached } = record
  if (matches === null && cached.matches !== true)
    return <Notice tone="unknown">{messages.unanswered(cached.ttl)}</Notice>
  if (matches === false) return <Notice tone="info">{describePending(record)}</Notice>
  return (
    <Notice tone="good" title={describePublished(record)}>
      {record.visibleToEverybodyAt !== null && (
        <p>
          {messages.visibleBy} <ExactTime at={record.visibleToEverybodyAt} />.
        </p>
      )}
      <Button size="small" onClick={onPublished}>
        {messages.checkAgain}
      </Button>
    </Notice>
  )
}

function describePublished({ matches, servers }: RecordState): string {
  if (matches === null) return messages.doneAtResolver
  const isComplete = servers.every(({ problem }) => problem === null)
  return isComplete ? messages.done : messages.doneWhereAnswered
}

function describePending({ servers }: RecordState): string {
  const matching = servers.filter(({ matches }) => matches === true).length
  return matching === 0 ? messages.notYet : messages.onSome(matching, servers.length)
}
