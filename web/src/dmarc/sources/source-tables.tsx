import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { utcDayText } from '../../ui/text/dates.ts'
import { Status } from '../../ui/feedback/status.tsx'
import { Section, Muted } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { counted } from '../../ui/text/format.ts'
import type { Source, SourceGroup, Summary } from '../api.ts'
import { shared, sourceGroups, sources as messages } from '../messages.ts'
import type { SummaryDays } from '../search.ts'
import { shareText } from '../share-text.ts'
import { sourceTone } from '../tones.ts'
import { labelSource, sourceName } from './source-labels.ts'

/** The domain and period, for links to a source. */
type SummaryLocation = { id: string; days: SummaryDays | undefined }

/** The sources of a domain, one table a group. */
export function SourceTables({ at, summary }: { at: SummaryLocation; summary: Summary }) {
  const { sources, sourceCount, groups } = summary
  return (
    <>
      {(Object.keys(sourceGroups) as SourceGroup[]).map((group) => (
        <SourceTable
          key={group}
          at={at}
          group={group}
          sources={sources.filter((source) => source.group === group)}
          count={groups[group]}
        />
      ))}
      {sourceCount > sources.length && (
        <Muted>{messages.truncated(sources.length, sourceCount)}</Muted>
      )}
    </>
  )
}

const FIRST_ROWS = 10
const MORE_ROWS = 50

const COLUMNS = [
  shared.source,
  shared.messages,
  shared.passed,
  messages.authentication,
  messages.seen,
]

type SourceTableProps = {
  at: SummaryLocation
  group: SourceGroup
  sources: Source[]
  count: Summary['groups'][SourceGroup]
}

function SourceTable({ at, group, sources, count }: SourceTableProps) {
  const [shown, setShown] = useState(FIRST_ROWS)
  if (sources.length === 0) return null
  const { title, explanation } = sourceGroups[group]
  return (
    <Section
      title={title}
      aside={
        <Muted>
          {counted(count.sources, messages.source)}, {counted(count.messages, shared.message)}
        </Muted>
      }
    >
      <Muted>{explanation}</Muted>
      <Table caption={title} quiet even columns={COLUMNS}>
        {sources.slice(0, shown).map((source) => (
          <SourceRow key={source.sourceIp} at={at} source={source} />
        ))}
      </Table>
      {sources.length > shown && (
        <div>
          <Button size="small" onClick={() => setShown(shown + MORE_ROWS)}>
            {shared.showMore}
          </Button>
        </div>
      )}
    </Section>
  )
}

function SourceRow({ at: { id, days }, source }: { at: SummaryLocation; source: Source }) {
  const {
    messages: count,
    pass,
    fail,
    dkimAligned,
    spfAligned,
    disposition,
    firstDay,
    lastDay,
  } = source
  const stopped = disposition.quarantine + disposition.reject
  const isOneDay = firstDay === lastDay
  return (
    <tr>
      <th scope="row">
        <Link
          to="/dmarc/$id/sources/$address"
          params={{ id, address: source.sourceIp }}
          search={{ days }}
        >
          {sourceName(source)}
        </Link>
        <small>{labelSource(source)}</small>
      </th>
      <td>
        {counted(count, shared.message)}
        <small>{stopped > 0 ? messages.stopped(stopped) : ''}</small>
      </td>
      <td>
        <Status tone={sourceTone(source)}>{shared.passedShare(shareText(pass, count))}</Status>
        {fail > 0 && <small>{shared.failedCount(fail)}</small>}
      </td>
      <td>
        <small>{messages.dkim(shareText(dkimAligned, count))}</small>
        <small>{messages.spf(shareText(spfAligned, count))}</small>
      </td>
      <td>
        <Muted>
          {isOneDay
            ? utcDayText(lastDay)
            : messages.days(utcDayText(firstDay), utcDayText(lastDay))}
        </Muted>
      </td>
    </tr>
  )
}
