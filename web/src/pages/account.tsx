import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { YourData } from '../account/your-data.tsx'
import { NameForm, PasswordForm } from '../account/profile-forms.tsx'
import { Sessions } from '../account/sessions.tsx'
import { Storage } from '../account/storage.tsx'
import { api, type Account } from '../api.ts'
import { areShortcutsOff, enableShortcuts } from '../shortcuts.ts'
import { migrationsQuery, type MigrationList } from '../migrations/api.ts'
import { accountQuery } from '../queries.ts'
import { Button } from '../ui/actions/button.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { CheckField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { ThemeSwitch } from '../ui/theme/theme-switch.tsx'
import { counted, numberText } from '../ui/text/format.ts'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  if (!account) return <Page title="Account" />
  return (
    <Page title="Account">
      <Facts
        facts={[
          ['E-mail', account.email],
          ['Plan', <Plan key="plan" name={account.plan} />],
          ['Rights', account.admin ? 'Administrator of this Portreeve' : null],
        ]}
      />
      <Section title="Storage">
        <Storage />
      </Section>
      <Section title="Name">
        <NameForm account={account} />
      </Section>
      <Section title="Password">
        <PasswordForm />
      </Section>
      <Section title="Where you are signed in">
        <Sessions />
        <SignOut />
      </Section>
      <Section title="Theme">
        <div>
          <ThemeSwitch />
        </div>
      </Section>
      <Section title="Keys">
        <CheckField
          name="keys"
          label="Single keys"
          hint="g and a letter go to a screen, j and k through a list, ? lists them all. Kept in this browser."
          defaultChecked={!areShortcutsOff()}
          onChoose={enableShortcuts}
        />
      </Section>
      <Section title="Your data">
        <YourData account={account} />
      </Section>
    </Page>
  )
}

/** The plan, and what is used of it. */
function Plan({ name }: { name: Account['plan'] }) {
  const { data } = useQuery(migrationsQuery(1))
  return (
    <>
      <strong>{name}</strong>
      {data && ` · ${usedText(data.month)}`}
    </>
  )
}

function usedText({ used, limit }: MigrationList['month']): string {
  if (limit === null) return `${counted(used, 'migration')} this month, and as many as you like`
  return `${numberText(used)} of ${counted(limit, 'migration')} used this month`
}

function SignOut() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [problem, setProblem] = useState('')

  async function signOut(): Promise<void> {
    try {
      await api.signOut()
      queries.clear()
      await navigate({ to: '/' })
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  return (
    <>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <div>
        <Button onClick={() => void signOut()}>Sign out</Button>
      </div>
    </>
  )
}
