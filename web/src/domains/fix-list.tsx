import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { CopyButton } from '../ui/actions/copy.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Card, Muted, Row, Section, Stack } from '../ui/layout/page.tsx'
import { PrintOnly } from '../ui/layout/print-only.tsx'
import { BulletList } from '../ui/lists/bullet-list.tsx'
import { ExactTime } from '../ui/text/date-text.tsx'
import { recordQuery, type DomainFix, type RecordState } from './api.ts'
import classes from './fix-list.module.css'
import { fixes as messages } from './messages.ts'
import { diffRecords } from './record-diff.ts'

type FixListProps = {
  domain: string
  fixes: DomainFix[]
  /** Called once a record is published. Without it, records are only shown. */
  onPublished?: () => void
  /** Records that are printed, from the first; all without it. */
  printed?: number | undefined
}

/** The records to publish, most urgent first: each complete, as a difference, with its reasons. */
export function FixList({ domain, fixes, onPublished, printed = fixes.length }: FixListProps) {
  if (fixes.length === 0) return null
  return (
    <Section title={messages.title}>
      <Muted>{messages.explanation}</Muted>
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
  return (
    <pre className={classes.diff} tabIndex={0} aria-label={messages.proposed}>
      {first === undefined ? (
        <ins>{value}</ins>
      ) : (
        diffRecords(first, value).map(({ kind, text }, index) => (
          <span key={index}>
            {kind === 'removed' ? (
              <del>{text}</del>
            ) : kind === 'added' ? (
              <ins>{text}</ins>
            ) : (
              text
            )}{' '}
          </span>
        ))
      )}
      {others.map((other) => (
        <del key={other} className={classes.line}>
          {other}
        </del>
      ))}
    </pre>
  )
}

/** Asks the name servers of the zone until they publish the record. */
function RecordWatch({ domain, fix, onPublished }: Required<FixCardProps>) {
  const { data: record, error } = useQuery(recordQuery(domain, fix))
  if (error) return <Notice tone="unknown">{error.message}</Notice>
  if (!record) return <Notice tone="info">{messages.looking}</Notice>
  if (record.matches !== true) return <Notice tone="info">{describePending(record)}</Notice>
  return (
    <Notice tone="good" title={messages.done}>
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

function describePending({ servers }: RecordState): string {
  const matching = servers.filter(({ matches }) => matches === true).length
  return matching === 0 ? messages.notYet : messages.onSome(matching, servers.length)
}
