import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { fields as accountFields } from '../account/messages.ts'
import { checkNewAccount } from '../account/new-account-fields.tsx'
import { SignUpForm } from '../account/sign-up-form.tsx'
import { api, type Account } from '../api.ts'
import { accountQuery, serviceQuery } from '../queries.ts'
import { Button, ButtonLink } from '../ui/actions/button.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Card, Muted, Page, Stack } from '../ui/layout/page.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { TextWithCode } from '../ui/text/text-with-code.tsx'
import { chooseWorkspace } from '../workspace-choice.ts'
import { workspaces, type InvitationPreview } from '../workspaces/api.ts'
import { useSwitchWorkspace } from '../workspaces/use-switch-workspace.ts'
import { invitation as messages } from '../workspaces/messages.ts'

/** The target of an invitation link: shows what it offers, and accepts it with a click. */
export function Screen() {
  const token = useInvitationToken()
  const { data: preview, error } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => workspaces.previewInvitation(token),
    enabled: token !== '',
    staleTime: Infinity,
  })
  if (token === '')
    return (
      <Page title={messages.title} narrow>
        <Notice tone="warn" title={messages.incompleteTitle}>
          <p>
            <TextWithCode text={messages.incomplete} />
          </p>
        </Notice>
      </Page>
    )
  if (error)
    return (
      <Page title={messages.title} narrow>
        <Notice tone="bad" title={messages.failedTitle}>
          <p>{error.message}</p>
        </Notice>
      </Page>
    )
  if (!preview)
    return (
      <Page title={messages.title} narrow>
        <Loading lines={3}>{messages.loading}</Loading>
      </Page>
    )
  return <Offer token={token} preview={preview} />
}

const TOKEN = 'portreeve-invitation'

/**
 * The token in the fragment, which browsers do not send, so that it reaches no log. The tab keeps
 * it for the way back from the sign-in.
 */
function useInvitationToken(): string {
  const hash = useLocation({ select: (location) => location.hash })
  const [kept] = useState(() => sessionStorage.getItem(TOKEN) ?? '')
  const token = hash || kept
  useEffect(() => {
    if (token) sessionStorage.setItem(TOKEN, token)
  }, [token])
  return token
}

function Offer({ token, preview }: { token: string; preview: InvitationPreview }) {
  const { data: account } = useQuery(accountQuery)
  const { workspace, role, invitedBy, expiresAt } = preview
  return (
    <Page title={messages.join(workspace)} narrow lead={messages.lead(invitedBy.email, role)}>
      <Card>
        {account ? (
          <Accept token={token} preview={preview} account={account} />
        ) : (
          account === null && <SignInFirst token={token} email={preview.email} />
        )}
      </Card>
      <p>
        <Muted>
          {messages.expires} <DateText at={expiresAt} />.
        </Muted>
      </p>
    </Page>
  )
}

type AcceptProps = { token: string; preview: InvitationPreview; account: Account }

function Accept({ token, preview: { email }, account }: AcceptProps) {
  const switchWorkspace = useSwitchWorkspace()
  const isOther = email !== null && email.toLowerCase() !== account.email.toLowerCase()
  if (isOther)
    return (
      <Stack>
        <Notice tone="warn" title={messages.wrongAddressTitle}>
          <p>{messages.wrongAddress(email, account.email)}</p>
        </Notice>
        <UseOtherAccount />
      </Stack>
    )
  return (
    <Stack>
      <Form
        onSubmit={async () => {
          const { id } = await workspaces.acceptInvitation(token)
          sessionStorage.removeItem(TOKEN)
          await switchWorkspace(id)
        }}
        submit={messages.accept}
      >
        <p>{messages.signedInAs(account.email)}</p>
      </Form>
      <UseOtherAccount />
    </Stack>
  )
}

/** Creates the account of the invited address: its name and password, and the rest is known. */
function InvitedAccount({ token, email }: SignInFirstProps & { email: string }) {
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function signUp({ name = '', password = '' }: Record<string, string>): Promise<void> {
    const person = { token, name: name.trim(), password }
    const { workspaceId } = await workspaces.signUpByInvitation(person)
    chooseWorkspace(workspaceId)
    sessionStorage.removeItem(TOKEN)
    // Everything cached so far belongs to the signed-out state.
    queries.clear()
    await navigate({ to: '/home', replace: true })
  }

  return (
    <Form
      onSubmit={signUp}
      check={(values) => checkNewAccount({ ...values, email })}
      submit={messages.createAccount}
    >
      <p>{messages.newAccount(email)}</p>
      <TextField name="name" label={messages.name} autoComplete="name" maxLength={200} autoFocus />
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <PasswordField
        name="password"
        label={accountFields.password}
        hint={accountFields.passwordHint}
        autoComplete="new-password"
      />
    </Form>
  )
}

function UseOtherAccount() {
  const queries = useQueryClient()

  async function signOut(): Promise<void> {
    await api.signOut()
    await queries.invalidateQueries(accountQuery)
  }

  return (
    <div>
      <Button kind="quiet" size="small" onClick={() => void signOut()}>
        {messages.useOther}
      </Button>
    </div>
  )
}

type SignInFirstProps = { token: string; email: string | null }

/** Creates the account of the invited address here, or leads to the sign-in. */
function SignInFirst({ token, email }: SignInFirstProps) {
  const { data: service } = useQuery(serviceQuery)
  if (!service) return <Loading lines={3}>{messages.loading}</Loading>
  const canSignUp = service.signup && service.passwordSignIn
  if (email !== null && service.passwordSignIn)
    return (
      <Stack>
        <InvitedAccount token={token} email={email} />
        <p>
          {messages.haveAccount}{' '}
          <Link to="/sign-in" search={{ next: '/invitation' }}>
            {messages.signIn}
          </Link>
        </p>
      </Stack>
    )
  return (
    <Stack>
      <p>{messages.signInFirst}</p>
      <div>
        <ButtonLink kind="primary" to="/sign-in" search={{ next: '/invitation' }}>
          {messages.signIn}
        </ButtonLink>
      </div>
      {canSignUp ? (
        <Disclosure summary={messages.signUpSummary}>
          <SignUpForm />
        </Disclosure>
      ) : (
        <Muted>{messages.noSignUp}</Muted>
      )}
    </Stack>
  )
}
