import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../api.ts'
import { delisting, openDelistingQuery } from '../delisting/api.ts'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { AreaField, Form, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Muted } from '../ui/layout/page.tsx'
import { useInView } from '../ui/forms/use-in-view.ts'

export function Screen() {
  const { ip = '' } = useSearch({ from: '/own/delisting/new' })
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [openId, setOpenId] = useState<string | null>(null)
  const [goodNews, setGoodNews] = useState('')
  const news = useInView<HTMLDivElement>(goodNews)

  async function begin({ ip: address = '', cause = '', fix = '' }: Record<string, string>): Promise<void> {
    const said = { ...(cause.trim() && { cause: cause.trim() }), ...(fix.trim() && { fix: fix.trim() }) }
    setOpenId(null)
    setGoodNews('')
    try {
      const { id } = await delisting.begin({ ip: address.trim(), ...said })
      await queries.invalidateQueries({ queryKey: ['delisting'] })
      await navigate({ to: '/delisting/$id', params: { id } })
    } catch (error) {
      if (isGoodNews(error)) return setGoodNews(error.message)
      throw isConflict(error) ? await inTheWay(address.trim(), error) : error
    }
  }

  /** Offers the way to the delisting that is under way, where that is what is in the way. */
  async function inTheWay(address: string, error: Error): Promise<Error> {
    const open = await queries.fetchQuery(openDelistingQuery(address)).catch(() => null)
    setOpenId(open?.id ?? null)
    return open ? new Error(`The delisting of ${open.ip} is under way already.`) : error
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
        <Muted>
          See that the cause is gone first: a list that is asked too early refuses, or lists the address again.
        </Muted>
      </Form>
      <div role="status" ref={news}>
        {goodNews && <Notice tone="good">{goodNews}</Notice>}
      </div>
    </Page>
  )
}

function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'conflict'
}

/** The service refuses to begin what has nothing to do, and says so in words alone. */
function isGoodNews(error: unknown): error is ApiError {
  return isConflict(error) && error.message.endsWith('There is nothing to delist.')
}

function wrongAddress({ ip = '' }: Record<string, string>): Record<string, string> {
  return ip.trim() === '' ? { ip: 'Type a public IP address.' } : {}
}
