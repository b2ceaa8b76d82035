import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteWithUndo } from '../deletions.ts'
import {
  mailCredentials,
  mailCredentialsQuery,
  mailProvidersQuery,
  type MailCredential,
} from '../imap/credentials.ts'
import { ProviderSignIn } from '../imap/provider-sign-in.tsx'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { FormDialog } from '../ui/layout/form-dialog.tsx'
import { Row } from '../ui/layout/page.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { useAccess } from '../workspaces/roles.ts'
import {
  AdministratorSignInFields,
  administratorOf,
  wrongAdministrator,
} from './administrator-fields.tsx'
import { form, page as messages } from './messages.ts'

/** What can be done with a sign-in: renewed or checked when it was rejected, replaced, deleted. */
export function SignInActions({ credential }: { credential: MailCredential }) {
  const { id, kind, account, state } = credential
  const access = useAccess()
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')
  const [isReplacing, setReplacing] = useState(false)

  async function check(): Promise<void> {
    setProblem('')
    try {
      await mailCredentials.check(id)
      await queries.invalidateQueries(mailCredentialsQuery)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  function remove(): void {
    deleteWithUndo(queries, {
      id,
      text: messages.removing(account),
      list: mailCredentialsQuery.queryKey,
      send: () => mailCredentials.remove(id),
    })
  }

  const name = <VisuallyHidden>{account}</VisuallyHidden>
  return (
    <>
      <Row>
        {state === 'consent_needed' && kind === 'person' && (
          <ProviderSignIn
            renews={credential}
            disabled={access.disabledReason !== undefined}
            onGranted={() => {}}
          />
        )}
        {state === 'consent_needed' && kind !== 'person' && (
          <Button {...access} size="small" onClick={() => void check()}>
            {messages.check} {name}
          </Button>
        )}
        {kind !== 'person' && (
          <Button {...access} size="small" onClick={() => setReplacing(true)}>
            {messages.replace} {name}
          </Button>
        )}
        <Button {...access} size="small" kind="quiet" onClick={remove}>
          {messages.remove} {name}
        </Button>
      </Row>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      {isReplacing && <ReplaceDialog credential={credential} onClose={() => setReplacing(false)} />}
    </>
  )
}

function ReplaceDialog({
  credential: { id, kind, provider: providerId, account },
  onClose,
}: {
  credential: MailCredential
  onClose: () => void
}) {
  const queries = useQueryClient()
  const { data } = useQuery(mailProvidersQuery)
  const provider = data?.forAdministrators.find((each) => each.id === providerId)
  if (!provider || kind === 'person') return null
  const way = { provider, kind }

  async function replace(values: Record<string, string>): Promise<void> {
    await mailCredentials.save(id, administratorOf(values, way))
    await queries.invalidateQueries(mailCredentialsQuery)
  }

  return (
    <FormDialog
      title={form.replaceTitle(account)}
      submit={form.replaceSubmit}
      check={wrongAdministrator}
      onSubmit={replace}
      onClose={onClose}
    >
      <AdministratorSignInFields way={way} />
    </FormDialog>
  )
}
