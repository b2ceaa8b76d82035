import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { delisting, openCaseQuery } from '../delisting/api.ts'
import { BackLink } from '../ui/back-link.tsx'
import { AreaField, Form, TextField } from '../ui/form.tsx'
import { Page, Soft } from '../ui/page.tsx'

export function Screen() {
  const { ip = '' } = useSearch({ from: '/own/delisting/new' })
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [openId, setOpenId] = useState<string | null>(null)

  async function begin({ ip: address = '', cause = '', fix = '' }: Record<string, string>): Promise<void> {
    const said = { ...(cause.trim() && { cause: cause.trim() }), ...(fix.trim() && { fix: fix.trim() }) }
    setOpenId(null)
    const { id } = await delisting.begin({ ip: address.trim(), ...said }).catch(async (error: unknown) => {
      const open = await queries.fetchQuery(openCaseQuery(address.trim())).catch(() => null)
      setOpenId(open?.id ?? null)
      throw error
    })
    await queries.invalidateQueries({ queryKey: ['delisting'] })
    await navigate({ to: '/delisting/$id', params: { id } })
  }

  return (
    <Page
      title="New delisting"
      above={<BackLink to="/delisting">Delisting</BackLink>}
      lead="Every blacklist is asked about the address, which takes a few seconds. Each that has it gets a step."
    >
      <Form
        onSubmit={begin}
        submit="Ask the lists, and begin"
        check={wrongAddress}
        aside={
          openId && (
            <Link to="/delisting/$id" params={{ id: openId }}>
              Go to the delisting that is under way
            </Link>
          )
        }
      >
        <TextField
          name="ip"
          label="Address"
          placeholder="8.8.4.4"
          defaultValue={ip}
          autoComplete="off"
          spellCheck={false}
          autoFocus={ip === ''}
        />
        <AreaField
          prose
          name="cause"
          label="What caused the listing"
          hint="Lists that take mail are written to only when cause and fix are said, here or later."
          placeholder="A mailbox with a guessed password sent spam."
          rows={2}
        />
        <AreaField
          prose
          name="fix"
          label="What was done about it, and when"
          placeholder="Its password was changed on 20 November."
          rows={2}
        />
        <Soft>
          See that the cause is gone first: a list that is asked too early refuses, or lists the address again.
        </Soft>
      </Form>
    </Page>
  )
}

function wrongAddress({ ip = '' }: Record<string, string>): Record<string, string> {
  return ip.trim() === '' ? { ip: 'Type a public IP address.' } : {}
}
