import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { attacks, reportTokensQuery, type NewReportToken } from '../attacks/api.ts'
import { AttackViews } from '../attacks/attack-views.tsx'
import { installCommand, reportCommand, reviewedInstallCommands } from '../attacks/commands.ts'
import { fleet, keysQuery } from '../attacks/fleet/api.ts'
import { servers as messages, views } from '../attacks/messages.ts'
import { ServerTable } from '../attacks/server-table.tsx'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { CheckField, Form, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Columns, Card, Page, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  return (
    <Page
      wide
      title={messages.title}
      lead={messages.lead}
      aside={<ButtonLink to="/attacks/connect">{views.connect}</ButtonLink>}
    >
      <AttackViews />
      <Columns>
        <NewServer />
        <Servers />
      </Columns>
    </Page>
  )
}

type NewServerToken = NewReportToken & { key?: string | undefined }

function NewServer() {
  const access = useAccess()
  const queries = useQueryClient()
  const [created, setCreated] = useState<NewServerToken | null>(null)

  async function create({ label = '', blocks }: Record<string, string>): Promise<void> {
    const token = await attacks.makeToken(label.trim())
    const key = blocks === 'on' ? (await fleet.makeKey(label.trim())).key : undefined
    setCreated({ ...token, key })
    await queries.invalidateQueries(reportTokensQuery)
    await queries.invalidateQueries(keysQuery)
  }

  return (
    <Card>
      <Stack>
        <Form key={created?.id} {...access} onSubmit={create} submit={messages.create}>
          <TextField
            name="label"
            label={messages.name}
            placeholder={messages.nameExample}
            maxLength={100}
          />
          <CheckField name="blocks" label={messages.block} hint={messages.blockHint} />
        </Form>
        <div role="status">{created && <InstallCommand created={created} />}</div>
      </Stack>
    </Card>
  )
}

function InstallCommand({ created: { token, label, key } }: { created: NewServerToken }) {
  return (
    <Notice tone="good" title={messages.created(label)}>
      <Snippet what={messages.installCommand} text={installCommand({ token, key })} />
      <p>{messages.createdText}</p>
      <Disclosure summary={messages.review}>
        <Snippet what={messages.reviewSteps} text={reviewedInstallCommands({ token, key })} />
      </Disclosure>
      <Disclosure summary={messages.manual}>
        <Snippet what={messages.command} text={reportCommand(token)} />
      </Disclosure>
    </Notice>
  )
}

function Servers() {
  const { data: tokens, error } = useQuery(reportTokensQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!tokens) return <Loading lines={3}>{messages.loading}</Loading>
  if (tokens.length === 0) return <NoServer />
  return (
    <Section title={messages.reports}>
      <ServerTable tokens={tokens} />
    </Section>
  )
}

function NoServer() {
  return (
    <Empty icon="shield" title={messages.empty}>
      <p>
        <Muted>{messages.emptyText}</Muted>
      </p>
      <Snippet what={messages.command} text={installCommand({})} />
    </Empty>
  )
}
