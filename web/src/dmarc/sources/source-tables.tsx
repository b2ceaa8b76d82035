import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { dayText } from '../../ui/charts/daily-chart.tsx'
import { Section, Muted } from '../../ui/layout/page.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { counted, numberText } from '../../ui/text/format.ts'
import type { SourceGroup, Source, Summary } from '../api.ts'
import type { SummaryDays } from '../search.ts'
import { GROUPS, shareText, describeSource, sourceName, sourceTone } from '../words.ts'

/** Of which domain and how many days, for the way to a source. */
type At = { id: string; days: SummaryDays | undefined }

/** Who sends in the domain's name, in groups. */
export function SourceTables({ at, summary: { sources, sourceCount, groups } }: { at: At; summary: Summary }) {
  return (
    <>
      {(Object.keys(GROUPS) as SourceGroup[]).map((group) => (
        <SourceGroup
          key={group}
          at={at}
          group={group}
          sources={sources.filter((source) => source.group === group)}
          count={groups[group]}
        />
      ))}
      {sourceCount > sources.length && (
        <Muted>
          There are {numberText(sourceCount)} sources; the {numberText(sources.length)} that matter most are named.
        </Muted>
      )}
    </>
  )
}

/** Rows at once. */
const SOME = 10

type SourceGroupProps = { at: At; group: SourceGroup; sources: Source[]; count: Summary['groups'][SourceGroup] }

function SourceGroup({ at, group, sources, count }: SourceGroupProps) {
  const [shown, setShown] = useState(SOME)
  if (sources.length === 0) return null
  const { title, words } = GROUPS[group]
  return (
    <Section
      title={title}
      aside={
        <Muted>
          {counted(count.sources, 'source')}, {counted(count.messages, 'message')}
        </Muted>
      }
    >
      <Muted>{words}</Muted>
      <Table caption={title} quiet even columns={['Source', 'Messages', 'Passed', 'By', 'Seen']}>
        {sources.slice(0, shown).map((source) => (
          <SourceRow key={source.sourceIp} at={at} source={source} />
        ))}
      </Table>
      {sources.length > shown && (
        <div>
          <Button size="small" onClick={() => setShown(shown + 5 * SOME)}>
            Show more
          </Button>
        </div>
      )}
    </Section>
  )
}

function SourceRow({ at: { id, days }, source }: { at: At; source: Source }) {
  const { messages, pass, fail, dkimAligned, spfAligned, disposition, firstDay, lastDay } = source
  const stopped = disposition.quarantine + disposition.reject
  return (
    <tr>
      <th scope="row">
        <Link to="/dmarc/$id/sources/$address" params={{ id, address: source.sourceIp }} search={{ days }}>
          {sourceName(source)}
        </Link>
        <small>{describeSource(source)}</small>
      </th>
      <td>
        {counted(messages, 'message')}
        <small>{stopped > 0 ? `${numberText(stopped)} stopped` : ''}</small>
      </td>
      <td>
        <Status tone={sourceTone(source)}>{`${shareText(pass, messages)} passed`}</Status>
        {fail > 0 && <small>{numberText(fail)} failed</small>}
      </td>
      <td>
        <small>DKIM {shareText(dkimAligned, messages)}</small>
        <small>SPF {shareText(spfAligned, messages)}</small>
      </td>
      <td>
        <Muted>{firstDay === lastDay ? dayText(lastDay) : `${dayText(firstDay)} – ${dayText(lastDay)}`}</Muted>
      </td>
    </tr>
  )
}
