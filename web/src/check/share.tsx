import { useIsFetching, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { CopyButton, Snippet } from '../ui/actions/copy.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row, Section } from '../ui/layout/page.tsx'
import { checkQuery, shares, sharesQuery, type Share } from './api.ts'
import { kindsOf } from './kinds.ts'
import classes from './share.module.css'
import type { Target } from './target.ts'

type ShareBarProps = {
  target: Target
  /** Other ways on, beside the buttons. */
  children?: ReactNode
}

/** What can be done with the results of a target once they are there: share them by a link, or print them. */
export function ShareBar({ target, children }: ShareBarProps) {
  const queries = useQueryClient()
  const kinds = kindsOf(target)
  const answers = useQueries({ queries: kinds.map((kind) => checkQuery(kind, target.name)) })
  const results = answers.flatMap(({ data: answer }, index) => {
    const check = kinds[index]?.name
    if (!answer || answer.receipt === null || check === undefined) return []
    return [{ check, data: answer.data as Record<string, unknown>, receipt: answer.receipt }]
  })
  const isAsking = useIsFetching({ queryKey: ['check'] }) > 0
  const [state, setState] = useState<{ busy: boolean; made?: Share; problem?: string }>({ busy: false })

  async function share(): Promise<void> {
    setState({ busy: true })
    try {
      setState({ busy: false, made: await shares.make(results) })
      await queries.invalidateQueries(sharesQuery)
    } catch (error) {
      setState({ busy: false, problem: (error as Error).message })
    }
  }

  return (
    <div className={classes.ways}>
      <Row>
        <Button busy={state.busy} disabled={isAsking || results.length === 0} onClick={() => void share()}>
          Share
        </Button>
        {children}
        <Button kind="quiet" disabled={isAsking} onClick={() => window.print()}>
          Print
        </Button>
      </Row>
      <div role="alert">{state.problem && <Notice tone="bad">{state.problem}</Notice>}</div>
      <div role="status">{state.made && <Made {...state.made} />}</div>
    </div>
  )
}

function Made({ url, expiresAt }: Share) {
  return (
    <Notice tone="good" title="Whoever has this link sees these results">
      <Snippet what="the link" text={url} />
      <p>
        They stay as they are now, until <DateText at={expiresAt} />. You can take the link back on the screen{' '}
        <Link to="/check">Check</Link>.
      </p>
    </Notice>
  )
}

/** What an account shares, as long as it shares anything. */
export function Shares() {
  const { data } = useQuery(sharesQuery)
  if (!data || data.length === 0) return null
  return (
    <Section title="Results you share">
      <List>
        {data.map((share) => (
          <ShareItem key={share.token} {...share} />
        ))}
      </List>
    </Section>
  )
}

function ShareItem({ token, url, target, createdAt, expiresAt }: Share) {
  const queries = useQueryClient()

  async function takeBack(): Promise<void> {
    await shares.takeBack(token)
    await queries.invalidateQueries(sharesQuery)
  }

  return (
    <ListItem
      title={
        <Link to="/shared/$token" params={{ token }}>
          {target}
        </Link>
      }
      action={
        <Row>
          <CopyButton text={url} what={`the link to ${target}`} />
          <ConfirmButton
            label="Take back"
            about={target}
            title={`Take the link to ${target} back?`}
            onConfirm={takeBack}
          >
            Whoever has it sees nothing any more.
          </ConfirmButton>
        </Row>
      }
    >
      Made <DateText at={createdAt} /> · until <DateText at={expiresAt} />
    </ListItem>
  )
}
