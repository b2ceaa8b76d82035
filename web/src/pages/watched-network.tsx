import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Appeal } from '../attacks/api.ts'
import { AppealForm, AppealOutcome } from '../attacks/appeal-form.tsx'
import { findingsQuery, WATCHED_KEY, type Finding } from '../attacks/networks/api.ts'
import { findings as messages } from '../attacks/networks/messages.ts'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Table } from '../ui/lists/table.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'

export function Screen() {
  const { id } = useParams({ from: '/own/attacks/networks/$id' })
  const { data, error } = useQuery(findingsQuery(id))
  const open = data?.findings.filter(({ resolvedAt }) => resolvedAt === null) ?? []
  const past = data?.findings.filter(({ resolvedAt }) => resolvedAt !== null) ?? []
  return (
    <Page
      title={data?.network.network ?? messages.untitled}
      lead={data?.network.label}
      above={<BackLink to="/attacks/networks">{messages.back}</BackLink>}
    >
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data && open.length === 0 && (
        <Notice tone={data.network.checkedAt ? 'good' : 'info'}>
          {data.network.checkedAt ? messages.none : messages.waiting}
        </Notice>
      )}
      {open.length > 0 && (
        <Section title={messages.open}>
          <List>
            {open.map((finding) => (
              <OpenFinding key={finding.id} finding={finding} />
            ))}
          </List>
        </Section>
      )}
      {past.length > 0 && (
        <Section title={messages.past}>
          <PastFindings findings={past} />
        </Section>
      )}
    </Page>
  )
}

const nameOf = ({ name }: Finding) => name ?? messages.attackList

function OpenFinding({ finding }: { finding: Finding }) {
  const { list, entry, foundAt, removalUrl } = finding
  return (
    <ListItem
      title={<code>{entry}</code>}
      action={
        removalUrl && (
          <a href={removalUrl}>
            {messages.removal}{' '}
            <VisuallyHidden>{messages.removalOf(entry, nameOf(finding))}</VisuallyHidden>
          </a>
        )
      }
    >
      {nameOf(finding)}, {messages.since} <DateText at={foundAt} />
      {list === 'shared' && <AppealOf entry={entry} />}
    </ListItem>
  )
}

function AppealOf({ entry }: { entry: string }) {
  const queries = useQueryClient()
  const [appeal, setAppeal] = useState<Appeal | null>(null)

  function sent(made: Appeal): void {
    setAppeal(made)
    void queries.invalidateQueries({ queryKey: WATCHED_KEY })
  }

  if (appeal) return <AppealOutcome {...appeal} />
  return (
    <Disclosure summary={messages.appeal(entry)}>
      <AppealForm ip={entry.split('/', 1)[0] ?? entry} onSent={sent} />
    </Disclosure>
  )
}

function PastFindings({ findings }: { findings: Finding[] }) {
  return (
    <Table quiet caption={messages.past} columns={[...messages.columns]}>
      {findings.map((finding) => (
        <tr key={finding.id}>
          <th scope="row">
            <code>{finding.entry}</code>
          </th>
          <td>{nameOf(finding)}</td>
          <td>
            <DateText at={finding.foundAt} />
          </td>
          <td>{finding.resolvedAt && <DateText at={finding.resolvedAt} />}</td>
        </tr>
      ))}
    </Table>
  )
}
