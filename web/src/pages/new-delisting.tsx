import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../api.ts'
import { delisting, openDelistingQuery } from '../delisting/api.ts'
import { causeAndFix, create as messages, list } from '../delisting/messages.ts'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { AreaField, Form, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Muted } from '../ui/layout/page.tsx'
import { useInView } from '../ui/forms/use-in-view.ts'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const access = useAccess()
  const { ip = '' } = useSearch({ from: '/own/delisting/new' })
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [openId, setOpenId] = useState<string | null>(null)
  const [goodNews, setGoodNews] = useState('')
  const news = useInView<HTMLDivElement>(goodNews)

  async function create({
    ip: address = '',
    cause = '',
    fix = '',
  }: Record<string, string>): Promise<void> {
    const explanation = {
      ...(cause.trim() && { cause: cause.trim() }),
      ...(fix.trim() && { fix: fix.trim() }),
    }
    setOpenId(null)
    setGoodNews('')
    try {
      const { id } = await delisting.create({ ip: address.trim(), ...explanation })
      await queries.invalidateQueries({ queryKey: ['delisting'] })
      await navigate({ to: '/delisting/$id', params: { id } })
    } catch (error) {
      if (isNotListed(error)) return setGoodNews(error.message)
      throw isConflict(error) ? await explainConflict(address.trim(), error) : error
    }
  }

  /** Links to the delisting in progress, where there is one. */
  async function explainConflict(address: string, error: Error): Promise<Error> {
    const open = await queries.fetchQuery(openDelistingQuery(address)).catch(() => null)
    setOpenId(open?.id ?? null)
    return open ? new Error(messages.inProgress(open.ip)) : error
  }

  return (
    <Page
      title={messages.title}
      above={<BackLink to="/delisting">{list.title}</BackLink>}
      lead={messages.lead}
    >
      <Form
        guarded
        {...access}
        onSubmit={create}
        submit={messages.submit}
        check={findMissing}
        aside={
          openId && (
            <Link to="/delisting/$id" params={{ id: openId }}>
              {messages.open}
            </Link>
          )
        }
      >
        <TextField
          name="ip"
          label={messages.address}
          placeholder="8.8.4.4"
          defaultValue={ip}
          spellCheck={false}
          autoFocus={ip === ''}
        />
        <AreaField
          prose
          name="cause"
          label={causeAndFix.cause}
          hint={messages.hint}
          placeholder={causeAndFix.causeExample}
          rows={2}
        />
        <AreaField
          prose
          name="fix"
          label={causeAndFix.fix}
          placeholder={causeAndFix.fixExample}
          rows={2}
        />
        <Muted>{messages.advice}</Muted>
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

/**
 * The conflict that names the field `ip`: no list has the address, so there is nothing to delist.
 */
function isNotListed(error: unknown): error is ApiError {
  return isConflict(error) && error.details.some(({ path }) => path === 'ip')
}

function findMissing({ ip = '' }: Record<string, string>): Record<string, string> {
  return ip.trim() === '' ? { ip: messages.enterAddress } : {}
}
