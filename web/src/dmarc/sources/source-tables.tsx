import { Link } from '@tanstack/react-router'
import { utcDayText } from '../../ui/text/dates.ts'
import { Status } from '../../ui/feedback/status.tsx'
import { Section, Muted } from '../../ui/layout/page.tsx'
import type { Column } from '../../ui/lists/column.ts'
import { DataTable } from '../../ui/lists/data-table.tsx'
import { counted } from '../../ui/text/format.ts'
import type { Source, SourceGroup, Summary } from '../api.ts'
import { shared, sourceGroups, sources as messages } from '../messages.ts'
import { SUMMARY_TABLES, type Period } from '../search.ts'
import { shareText } from '../share-text.ts'
import { sourceTone } from '../tones.ts'
import { SourceLabel } from './source-label.tsx'
import { describeNetwork, sourceName } from './source-labels.ts'

/** The domain and period, for links to a source. */
type SummaryLocation = { id: string; period: Period }

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

type SourceTableProps = {
  at: SummaryLocation
  group: SourceGroup
  sources: Source[]
  count: Summary['groups'][SourceGroup]
}

function SourceTable({ at, group, sources, count }: SourceTableProps) {
  if (sources.length === 0) return null
  const { title, explanation } = sourceGroups[group]
  return (
    <Section title={title} aside={<Muted>{counted(count.messages, shared.message)}</Muted>}>
      <Muted>{explanation}</Muted>
      <DataTable
        caption={title}
        columns={columnsOf(at)}
        rows={sources}
        rowId={({ sourceIp }) => sourceIp}
        nameOf={sourceName}
        count={(rows) => counted(rows, messages.source)}
        filterLabel={messages.filter}
        parameters={SUMMARY_TABLES[group]}
        csvName={`dmarc-sources-${group}`}
        pageRows={FIRST_ROWS}
      />
    </Section>
  )
}

const FIRST_ROWS = 10

function columnsOf({ id, period }: SummaryLocation): Column<Source>[] {
  return [
    {
      key: 'source',
      title: shared.source,
      cell: (source) => (
        <>
          <Link
            to="/dmarc/$id/sources/$address"
            params={{ id, address: source.sourceIp }}
            search={period}
          >
            {sourceName(source)}
          </Link>
          <SourceLabel source={source} />
        </>
      ),
      sort: sourceName,
      csv: sourceName,
    },
    { key: 'address', title: messages.address, csv: ({ sourceIp }) => sourceIp },
    { key: 'network', title: messages.network, csv: (source) => describeNetwork(source) },
    {
      key: 'messages',
      title: shared.messages,
      cell: ({ messages: count, disposition }) => {
        const stopped = disposition.quarantine + disposition.reject
        return (
          <>
            {counted(count, shared.message)}
            <small>{stopped > 0 ? messages.stopped(stopped) : ''}</small>
          </>
        )
      },
      sort: (source) => source.messages,
      descendsFirst: true,
      csv: (source) => source.messages,
    },
    {
      key: 'passed',
      title: shared.passed,
      cell: (source) => (
        <>
          <Status tone={sourceTone(source)}>
            {shared.passedShare(shareText(source.pass, source.messages))}
          </Status>
          {source.fail > 0 && <small>{shared.failedCount(source.fail)}</small>}
        </>
      ),
      sort: ({ pass, messages: count }) => pass / count,
      csv: ({ pass }) => pass,
    },
    { key: 'failed', title: shared.failed, csv: ({ fail }) => fail },
    {
      key: 'authentication',
      title: messages.authentication,
      cell: ({ dkimAligned, spfAligned, messages: count }) => (
        <>
          <small>{messages.dkim(shareText(dkimAligned, count))}</small>
          <small>{messages.spf(shareText(spfAligned, count))}</small>
        </>
      ),
    },
    { key: 'dkim', title: messages.dkimAligned, csv: ({ dkimAligned }) => dkimAligned },
    { key: 'spf', title: messages.spfAligned, csv: ({ spfAligned }) => spfAligned },
    {
      key: 'seen',
      title: messages.seen,
      cell: ({ firstDay, lastDay }) => (
        <Muted>
          {firstDay === lastDay
            ? utcDayText(lastDay)
            : messages.days(utcDayText(firstDay), utcDayText(lastDay))}
        </Muted>
      ),
      sort: ({ lastDay }) => lastDay,
      descendsFirst: true,
      csv: ({ lastDay }) => lastDay,
    },
  ]
}
