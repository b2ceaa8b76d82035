import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { attacks, reportTokensQuery, type NewReportToken, type ReportToken } from '../attacks/api.ts'
import { AttackViews } from '../attacks/attack-views.tsx'
import { carefulJoin, joinCommand, reportCommand } from '../attacks/commands.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { CheckField, Form, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { numberText } from '../ui/text/format.ts'

export function Screen() {
  return (
    <Page
      title="Your servers"
      lead="One line joins a server that runs fail2ban, so that it tells who attacks it. The line carries a report token, by which what the server told shows here."
    >
      <AttackViews />
      <Join />
      <Servers />
    </Page>
  )
}

type Made = NewReportToken & { blocks: boolean }

function Join() {
  const queries = useQueryClient()
  const [made, setMade] = useState<Made | null>(null)

  async function make({ label = '', blocks }: Record<string, string>): Promise<void> {
    setMade({ ...(await attacks.makeToken(label.trim())), blocks: blocks === 'on' })
    await queries.invalidateQueries(reportTokensQuery)
  }

  return (
    <Card>
      <Stack>
        <Form key={made?.id} onSubmit={make} submit="Make the installer line">
          <TextField name="label" label="Name of the server" placeholder="web-1" maxLength={100} autoComplete="off" />
          <CheckField
            name="blocks"
            label="Also keep out whom others have seen"
            hint="Listed addresses are dropped before they reach a port."
          />
        </Form>
        <div role="status">{made && <Line {...made} />}</div>
      </Stack>
    </Card>
  )
}

function Line({ token, label, blocks }: Made) {
  return (
    <Notice tone="good" title={`Run this on ${label || 'the server'}`}>
      <Snippet what="the line" text={joinCommand({ token, blocks })} />
      <p>The report token in it is shown this once. Run the line again after you added a jail.</p>
      <Disclosure summary="Read first what root will run">
        <Snippet what="the steps" text={carefulJoin({ token, blocks })} />
      </Disclosure>
      <Disclosure summary="Without fail2ban">
        <Snippet what="the command" text={reportCommand(token)} />
      </Disclosure>
    </Notice>
  )
}

function Servers() {
  const { data: tokens, error } = useQuery(reportTokensQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!tokens) return <Loading lines={3}>Fetching your servers …</Loading>
  if (tokens.length === 0) return <NoServer />
  return (
    <Section title="What they told">
      <Table caption="Your servers" quiet columns={['Server', 'Reports', 'In 7 days', 'Listed now', 'Token']}>
        {tokens.map((token) => (
          <ServerRow key={token.id} {...token} />
        ))}
      </Table>
    </Section>
  )
}

function ServerRow({ id, label, lastFour, totalReports, last7d, currentlyListedFromMyReports }: ReportToken) {
  const queries = useQueryClient()
  const name = label || 'Without a name'

  async function revoke(): Promise<void> {
    await attacks.revokeToken(id)
    await queries.invalidateQueries(reportTokensQuery)
  }

  return (
    <tr>
      <th scope="row">
        {name}
        <small>
          <code>ar_…{lastFour}</code>
        </small>
      </th>
      <td data-label="Reports">{numberText(totalReports)}</td>
      <td data-label="In 7 days">{numberText(last7d)}</td>
      <td data-label="Listed now">{numberText(currentlyListedFromMyReports)}</td>
      <td>
        <ConfirmButton label="Revoke" about={name} title={`Revoke the token of “${name}”?`} onConfirm={revoke}>
          What the server tells from now on counts as anonymous. Its figures are deleted.
        </ConfirmButton>
      </td>
    </tr>
  )
}

function NoServer() {
  return (
    <Empty icon="shield" title="None of your servers has joined yet">
      <p>
        <Muted>Make a line for it above. Without a report token it counts the same, but is not shown here:</Muted>
      </p>
      <Snippet what="the command" text={joinCommand({ blocks: false })} />
    </Empty>
  )
}
