import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { accountQuery } from '../queries.ts'
import { showToast } from '../toasts.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Form, TextField } from '../ui/forms/form.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted, Page, Section, Stack } from '../ui/layout/page.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { membersQuery, workspaces, workspacesQuery, type Workspace } from '../workspaces/api.ts'
import { DeletedWorkspaces } from '../workspaces/deleted-workspaces.tsx'
import { isAtLeast, useAccess } from '../workspaces/roles.ts'
import { useSwitchWorkspace } from '../workspaces/use-switch-workspace.ts'
import { roles, settings as messages } from '../workspaces/messages.ts'

/** The name of the workspace, how to leave or delete it, and how to create another one. */
export function Screen() {
  const { data: all, error } = useQuery(workspacesQuery)
  const current = all?.find(({ isCurrent }) => isCurrent)
  return (
    <Page
      title={messages.title}
      rail={current ? <About workspace={current} /> : error ? undefined : null}
    >
      <LoadingOrError there={all} error={error} lines={4}>
        {messages.loading}
      </LoadingOrError>
      {current && <Current key={current.id} workspace={current} />}
      <Section title={messages.createSection}>
        <NewWorkspace current={current?.id ?? null} />
      </Section>
      {current && (
        <>
          <Section title={messages.leaveSection}>
            <Leave workspace={current} />
          </Section>
          {isAtLeast(current.role, 'owner') && (
            <Section title={messages.deleteSection}>
              <Disclosure summary={messages.deleteSummary}>
                <Delete workspace={current} />
              </Disclosure>
            </Section>
          )}
        </>
      )}
      <DeletedWorkspaces all={all ?? []} />
    </Page>
  )
}

function Current({ workspace }: { workspace: Workspace }) {
  const queries = useQueryClient()
  const [isSaved, setSaved] = useState(false)
  const { id, name } = workspace

  async function rename({ name: wanted = '' }: Record<string, string>): Promise<void> {
    setSaved(false)
    await workspaces.rename(id, wanted.trim())
    await Promise.all([
      queries.invalidateQueries(workspacesQuery),
      queries.invalidateQueries(accountQuery),
    ])
    setSaved(true)
  }

  return (
    <Section title={messages.nameSection}>
      <Form onSubmit={rename} check={missingName} submit={messages.save} {...useAccess('admin')}>
        <TextField name="name" label={messages.name} defaultValue={name} maxLength={200} />
      </Form>
      <div role="status">{isSaved && <Notice tone="good">{messages.saved}</Notice>}</div>
    </Section>
  )
}

const CREATED_MS = 10_000

function About({ workspace: { role, plan, members, createdAt } }: { workspace: Workspace }) {
  return (
    <Section title={messages.about}>
      <Facts
        facts={[
          [messages.facts.role, roles.names[role]],
          [messages.facts.plan, plan],
          [messages.facts.members, String(members)],
          [messages.facts.created, <DateText key="created" at={createdAt} />],
        ]}
      />
    </Section>
  )
}

/** The new workspace is empty, so a message says where the data is that was there before. */
function NewWorkspace({ current }: { current: string | null }) {
  const switchWorkspace = useSwitchWorkspace()
  return (
    <>
      <p>
        <Muted>{messages.createLead}</Muted>
      </p>
      <Form
        onSubmit={async ({ name = '' }) => {
          const { id } = await workspaces.create(name.trim())
          await switchWorkspace(id)
          const close = showToast({
            text: messages.created(name.trim()),
            lastsMs: CREATED_MS,
            action: {
              label: messages.back,
              run() {
                close()
                void switchWorkspace(current)
              },
            },
          })
        }}
        check={missingName}
        submit={messages.create}
        kind="plain"
      >
        <TextField name="name" label={messages.createName} maxLength={200} />
      </Form>
    </>
  )
}

function Leave({ workspace: { id, name, role } }: { workspace: Workspace }) {
  const switchWorkspace = useSwitchWorkspace()
  const { data: members } = useQuery(membersQuery(id))
  const own = members?.find(({ isYou }) => isYou)
  const owners = members?.filter((member) => member.role === 'owner').length ?? 0
  if (members?.length === 1) return <Muted>{messages.leaveAlone}</Muted>
  if (role === 'owner' && owners === 1)
    return (
      <p>
        <Muted>{messages.lastOwner}</Muted>{' '}
        <Link to="/workspace/members">{messages.transferLink}</Link>
      </p>
    )
  return (
    <Stack>
      <Muted>{messages.leaveText}</Muted>
      <div>
        {own && (
          <ConfirmButton
            label={messages.leave}
            about=""
            kind="danger"
            title={messages.leaveTitle(name)}
            onConfirm={async () => {
              await workspaces.removeMember(id, own.accountId)
              await switchWorkspace(null)
            }}
          >
            {messages.leaveEffect}
          </ConfirmButton>
        )}
      </div>
    </Stack>
  )
}

function Delete({ workspace: { id, name } }: { workspace: Workspace }) {
  const switchWorkspace = useSwitchWorkspace()
  return (
    <Stack>
      <Notice tone="warn" title={messages.deleteWarning}>
        <p>{messages.deleteText}</p>
      </Notice>
      <Form
        onSubmit={async (values) => {
          await workspaces.remove(id, (values['confirmation'] ?? '').trim())
          await switchWorkspace(null)
        }}
        check={({ confirmation = '' }): Record<string, string> =>
          confirmation.trim() === name ? {} : { confirmation: messages.enterExactName(name) }
        }
        submit={messages.delete}
        kind="danger"
      >
        <TextField
          name="confirmation"
          label={messages.confirmName}
          placeholder={name}
          spellCheck={false}
        />
      </Form>
    </Stack>
  )
}

function missingName({ name = '' }: Record<string, string>): Record<string, string> {
  return name.trim() === '' ? { name: messages.enterName } : {}
}
