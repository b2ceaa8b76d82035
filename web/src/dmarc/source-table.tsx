import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { dayText } from '../ui/chart-days.tsx'
import { Section, Soft } from '../ui/page.tsx'
import { Status } from '../ui/status.tsx'
import { Table } from '../ui/table.tsx'
import { counted, numberText } from '../ui/words.ts'
import type { Group, Source, Summary } from './api.ts'
import { GROUPS, shareText, sourceFacts, sourceName } from './words.ts'

/** Who sends in the domain's name, in groups. */
export function Sources({ summary: { sources, sourceCount, groups } }: { summary: Summary }) {
  return (
    <>
      {(Object.keys(GROUPS) as Group[]).map((group) => (
        <SourceGroup
          key={group}
          group={group}
          sources={sources.filter((source) => source.group === group)}
          count={groups[group]}
        />
      ))}
      {sourceCount > sources.length && (
        <Soft>
          There are {numberText(sourceCount)} sources; the {numberText(sources.length)} that matter most are named.
        </Soft>
      )}
    </>
  )
}

/** Rows at once. */
const SOME = 10

type SourceGroupProps = { group: Group; sources: Source[]; count: Summary['groups'][Group] }

function SourceGroup({ group, sources, count }: SourceGroupProps) {
  const [shown, setShown] = useState(SOME)
  if (sources.length === 0) return null
  const { title, words } = GROUPS[group]
  return (
    <Section
      title={title}
      aside={
        <Soft>
          {counted(count.sources, 'source')}, {counted(count.messages, 'message')}
        </Soft>
      }
    >
      <Soft>{words}</Soft>
      <Table caption={title} quiet even columns={['Source', 'Messages', 'Passed', 'By', 'Seen']}>
        {sources.slice(0, shown).map((source) => (
          <SourceRow key={source.sourceIp} source={source} />
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

function SourceRow({ source }: { source: Source }) {
  const { messages, pass, fail, dkimAligned, spfAligned, disposition, firstDay, lastDay } = source
  const stopped = disposition.quarantine + disposition.reject
  const tone = fail === 0 ? 'good' : pass === 0 ? 'bad' : 'warn'
  return (
    <tr>
      <th scope="row">
        {sourceName(source)}
        <small>{sourceFacts(source)}</small>
      </th>
      <td>
        {counted(messages, 'message')}
        <small>{stopped > 0 ? `${numberText(stopped)} stopped` : ''}</small>
      </td>
      <td>
        <Status tone={tone}>{`${shareText(pass, messages)} passed`}</Status>
        {fail > 0 && <small>{numberText(fail)} failed</small>}
      </td>
      <td>
        <small>DKIM {shareText(dkimAligned, messages)}</small>
        <small>SPF {shareText(spfAligned, messages)}</small>
      </td>
      <td>
        <Soft>{firstDay === lastDay ? dayText(lastDay) : `${dayText(firstDay)} – ${dayText(lastDay)}`}</Soft>
      </td>
    </tr>
  )
}
