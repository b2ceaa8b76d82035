import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { accountQuery } from '../queries.ts'
import { Button } from '../ui/button.tsx'
import { Facts } from '../ui/facts.tsx'
import { Notice } from '../ui/notice.tsx'
import { Page, Section } from '../ui/page.tsx'
import { ThemeSwitch } from '../ui/theme-switch.tsx'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  return (
    <Page title="Account">
      {account && (
        <Facts
          facts={[
            ['Name', account.name],
            ['E-mail', account.email],
            ['Plan', account.plan],
            ['Rights', account.admin ? 'Administrator of this Portreeve' : null],
          ]}
        />
      )}
      <Section title="Theme">
        <div>
          <ThemeSwitch />
        </div>
      </Section>
      <Section title="This browser">
        <SignOut />
      </Section>
    </Page>
  )
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
