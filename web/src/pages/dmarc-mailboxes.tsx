import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { dmarc, mailboxesQuery, type ReportMailbox } from '../dmarc/api.ts'
import { deleteWithUndo } from '../deletions.ts'
import { mailboxes as messages, shared } from '../dmarc/messages.ts'
import { secretOf, serverOf, wrongAccount } from '../imap/account.ts'
import { AccountFields, ConnectionFields } from '../imap/account-fields.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { RenewedSignIn } from '../imap/renewed-sign-in.tsx'
import { Button } from '../ui/actions/button.tsx'
import { FieldRow, Form, TextField } from '../ui/forms/form.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Row, Section, Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const { data: mailboxes, error } = useQuery(mailboxesQuery)
  return (
    <Page
      wide
      title={messages.title}
      above={<BackLink to="/dmarc">{shared.title}</BackLink>}
      lead={messages.lead}
    >
      <LoadingOrError there={mailboxes} error={error} lines={3} shape="table">
        {messages.loading}
      </LoadingOrError>
      {mailboxes && mailboxes.length > 0 && <MailboxTable mailboxes={mailboxes} />}
      <Section title={messages.add}>
        <Card>
          <NewMailbox />
        </Card>
      </Section>
    </Page>
  )
}

function MailboxTable({ mailboxes }: { mailboxes: ReportMailbox[] }) {
  return (
    <Table
      caption={messages.yours}
      quiet
      columns={[messages.mailbox, messages.status, messages.lastChecked, shared.actions]}
    >
      {mailboxes.map((mailbox) => (
        <MailboxRow key={mailbox.id} mailbox={mailbox} />
      ))}
    </Table>
  )
}

function MailboxRow({ mailbox }: { mailbox: ReportMailbox }) {
  const { user, host, folder, moveTo, fetchedAt, totalMessages, lastError } = mailbox
  const { needsSignIn, credentialId } = mailbox
  return (
    <tr>
      <th scope="row">
        {user}
        <small>{messages.location(folder, host, moveTo)}</small>
      </th>
      <td>
        {lastError === null ? (
          <Status tone={fetchedAt ? 'good' : 'info'}>
            {fetchedAt ? messages.working : messages.pending}
          </Status>
        ) : (
          <>
            <Status tone={needsSignIn ? 'warn' : 'bad'}>
              {needsSignIn ? messages.needsSignIn : messages.failing}
            </Status>
            <small>{lastError}</small>
            {needsSignIn && <RenewedSignIn credentialId={credentialId} />}
          </>
        )}
      </td>
      <td>
        <Muted>{fetchedAt ? <Ago at={fetchedAt} /> : messages.never}</Muted>
        <small>{counted(totalMessages, shared.message)}</small>
      </td>
      <td>
        <MailboxActions mailbox={mailbox} />
      </td>
    </tr>
  )
}

/** A password, or a sign-in at the provider. */
function signInOf(values: Record<string, string>) {
  const secret = secretOf(values)
  return 'credentialId' in secret ? secret : { password: values['password'] ?? '' }
}

function MailboxActions({ mailbox: { id, user } }: { mailbox: ReportMailbox }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')

  async function check(): Promise<void> {
    setProblem('')
    try {
      await dmarc.fetchMailbox(id)
      await queries.invalidateQueries(mailboxesQuery)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  function remove(): void {
    deleteWithUndo(queries, {
      id,
      text: messages.removing(user),
      list: mailboxesQuery.queryKey,
      send: () => dmarc.removeMailbox(id),
    })
  }

  return (
    <>
      <Row>
        <Button {...access} size="small" onClick={() => void check()}>
          {messages.check} <VisuallyHidden>{user}</VisuallyHidden>
        </Button>
        <Button {...access} size="small" kind="quiet" onClick={remove}>
          {messages.remove} <VisuallyHidden>{user}</VisuallyHidden>
        </Button>
      </Row>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </>
  )
}

function NewMailbox() {
  const access = useAccess()
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add(values: Record<string, string>): Promise<void> {
    const { folder = '', moveTo = '' } = values
    await dmarc.addMailbox({
      ...serverOf(values),
      ...signInOf(values),
      folder: folder.trim() || 'INBOX',
      ...(moveTo.trim() && { moveTo: moveTo.trim() }),
    })
    await queries.invalidateQueries(mailboxesQuery)
    setAdded(added + 1)
  }

  return (
    <Form key={added} {...access} onSubmit={add} submit={messages.submit} check={wrongAccount}>
      <AccountFields example={messages.userExample} takesSignIns />
      <FieldRow>
        <TextField
          name="folder"
          label={messages.folder}
          hint={messages.folderHint}
          defaultValue="INBOX"
          autoComplete="off"
        />
        <TextField
          name="moveTo"
          label={messages.moveTo}
          hint={messages.moveToHint}
          placeholder={messages.moveToExample}
          autoComplete="off"
        />
      </FieldRow>
      <ConnectionFields />
    </Form>
  )
}
