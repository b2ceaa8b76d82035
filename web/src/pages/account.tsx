import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { YourData } from '../account/your-data.tsx'
import { methodsQuery } from '../account/api.ts'
import { EmailForm } from '../account/email-form.tsx'
import { Authenticator } from '../account/factors/authenticator.tsx'
import { PasskeyList } from '../account/factors/passkey-list.tsx'
import { SingleSignOn } from '../account/factors/single-sign-on.tsx'
import { NameForm, PasswordForm } from '../account/profile-forms.tsx'
import { Sessions } from '../account/sessions.tsx'
import { Storage } from '../account/storage.tsx'
import { useSignOut } from '../account/use-sign-out.ts'
import type { Account } from '../api.ts'
import { areShortcutsOff, enableShortcuts } from '../shortcuts.ts'
import { migrationsQuery } from '../migrations/api.ts'
import { accountQuery, serviceQuery } from '../queries.ts'
import { Button } from '../ui/actions/button.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { CheckField } from '../ui/forms/form.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Columns, SectionList, Page, Section } from '../ui/layout/page.tsx'
import { ThemeSwitch } from '../ui/theme/theme-switch.tsx'
import { account as messages } from '../account/messages.ts'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  const { data: methods, isPending } = useQuery(methodsQuery)
  if (!account || isPending)
    return (
      <Page wide title={messages.title}>
        <Loading shape="form" lines={4}>
          {messages.loading}
        </Loading>
      </Page>
    )
  if (account.secondFactorNeeded) return <SecondFactorNeeded />
  return (
    <Page wide title={messages.title}>
      <Columns>
        <SectionList>
          <Profile account={account} hasPassword={methods?.password === true} />
        </SectionList>
        <SectionList>
          <Facts
            facts={[
              [messages.email, account.email],
              [messages.plan, <Plan key="plan" name={account.plan} />],
              [messages.role, account.admin ? messages.administrator : null],
            ]}
          />
          <Section title={messages.storage}>
            <Storage />
          </Section>
          <Section title={messages.sessions}>
            <Sessions />
            <SignOut />
          </Section>
          <Section title={messages.yourData}>
            <YourData account={account} />
          </Section>
        </SectionList>
      </Columns>
    </Page>
  )
}

function Profile({ account, hasPassword }: { account: Account; hasPassword: boolean }) {
  const { data: service } = useQuery(serviceQuery)
  return (
    <>
      <Section title={messages.name}>
        <NameForm account={account} />
      </Section>
      <Section title={messages.emailSection}>
        <EmailForm />
      </Section>
      {hasPassword && (
        <Section title={messages.password}>
          <PasswordForm />
        </Section>
      )}
      <Section title={messages.authenticator}>
        <Authenticator />
      </Section>
      <Section title={messages.passkeys}>
        <PasskeyList />
      </Section>
      {service?.oidc && (
        <Section title={messages.singleSignOn}>
          <SingleSignOn />
        </Section>
      )}
      <Section title={messages.theme}>
        <div>
          <ThemeSwitch />
        </div>
      </Section>
      <Section title={messages.shortcuts}>
        <CheckField
          name="keys"
          label={messages.shortcutsLabel}
          hint={messages.shortcutsHint}
          defaultChecked={!areShortcutsOff()}
          onChoose={enableShortcuts}
        />
      </Section>
    </>
  )
}

/** Until the account has a second factor, the service answers nothing else. */
function SecondFactorNeeded() {
  return (
    <Page title={messages.title}>
      <Notice tone="warn" title={messages.secondFactorTitle}>
        <p>{messages.secondFactorNeeded}</p>
      </Notice>
      <Section title={messages.authenticator}>
        <Authenticator />
      </Section>
      <Section title={messages.passkeys}>
        <PasskeyList />
      </Section>
      <SignOut />
    </Page>
  )
}

/** The plan, and how much of it is used. */
function Plan({ name }: { name: Account['plan'] }) {
  const { data } = useQuery(migrationsQuery())
  return (
    <>
      <strong>{name}</strong>
      {data && ` · ${messages.migrationsUsed(data.month.used, data.month.limit)}`}
    </>
  )
}

function SignOut() {
  const signOut = useSignOut()
  const [problem, setProblem] = useState('')

  return (
    <>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <div>
        <Button onClick={() => void signOut().catch((error: Error) => setProblem(error.message))}>
          {messages.signOut}
        </Button>
      </div>
    </>
  )
}
