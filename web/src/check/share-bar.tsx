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
import { checkQuery, shares, sharesQuery, type CheckResponse, type Share } from './api.ts'
import type { CheckKind } from './kinds/check-kind.ts'
import { checksFor } from './kinds/check-kinds.ts'
import { actions, check as checkMessages, sharing as messages } from './messages.ts'
import classes from './share-bar.module.css'
import { targetText, type CheckTarget } from './guess-target.ts'
import { useAccess } from '../workspaces/roles.ts'

type ShareBarProps = {
  target: CheckTarget
  /** More buttons for this result. */
  children?: ReactNode
}

/** The actions on the results of a target: share them by a link, or print them. */
export function ShareBar({ target, children }: ShareBarProps) {
  const kinds = checksFor(target)
  const answers = useQueries({ queries: kinds.map((kind) => checkQuery(kind, targetText(target))) })
  const results = shareableResults(kinds, answers)
  const isChecking = useIsFetching({ queryKey: ['check'] }) > 0
  return (
    <ShareActions results={results} isChecking={isChecking}>
      {children}
    </ShareActions>
  )
}

/** The results that are complete, with their receipts. */
export function shareableResults(
  kinds: CheckKind[],
  answers: { data: CheckResponse | undefined }[],
): ShareActionsProps['results'] {
  return answers.flatMap(({ data: answer }, index) => {
    const check = kinds[index]?.name
    if (!answer || answer.receipt === null || check === undefined) return []
    return [{ check, data: answer.data as Record<string, unknown>, receipt: answer.receipt }]
  })
}

type ShareActionsProps = {
  /** Results with their receipts; empty where none is complete. */
  results: Parameters<typeof shares.create>[0]
  isChecking: boolean
  /** More buttons for this result. */
  children?: ReactNode
}

/** Opens the panel that shares these results by a link, or prints the page. */
export function ShareActions({ results, isChecking, children }: ShareActionsProps) {
  const access = useAccess()
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={classes.actions}>
      <Row>
        <Button
          {...access}
          aria-expanded={isOpen}
          disabled={isChecking || results.length === 0}
          onClick={() => setOpen(!isOpen)}
        >
          {actions.share}
        </Button>
        <Button kind="quiet" disabled={isChecking} onClick={() => window.print()}>
          {actions.print}
        </Button>
        {children}
      </Row>
      {isOpen && <SharePanel results={results} />}
    </div>
  )
}

type PanelState = { busy: boolean; created?: Share; problem?: string }

/** Creates a link to the results, and deletes it again. */
function SharePanel({ results }: Pick<ShareActionsProps, 'results'>) {
  const queries = useQueryClient()
  const [{ busy, created, problem }, setState] = useState<PanelState>({ busy: false })

  async function change(work: () => Promise<PanelState>): Promise<void> {
    setState((before) => ({ ...before, busy: true }))
    try {
      setState(await work())
      await queries.invalidateQueries(sharesQuery)
    } catch (error) {
      setState((before) => ({ ...before, busy: false, problem: (error as Error).message }))
    }
  }
  const create = async () => ({ busy: false, created: await shares.create(results) })
  const remove = async ({ token }: Share) => {
    await shares.remove(token)
    return { busy: false }
  }

  return (
    <>
      <div role="status">
        {created ? (
          <Notice tone="good" title={messages.created}>
            <Snippet what={messages.link} text={created.url} />
            <p>
              {messages.validUntil} <DateText at={created.expiresAt} />. {messages.allLinks}{' '}
              <Link to="/check">{checkMessages.title}</Link>.
            </p>
          </Notice>
        ) : (
          <p>{messages.about}</p>
        )}
      </div>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <div>
        {created ? (
          <Button kind="danger" busy={busy} onClick={() => void change(() => remove(created))}>
            {messages.delete}
          </Button>
        ) : (
          <Button kind="primary" busy={busy} onClick={() => void change(create)}>
            {messages.create}
          </Button>
        )}
      </div>
    </>
  )
}

/** The results that an account shares; nothing when it shares none. */
export function SharedResultList() {
  const { data } = useQuery(sharesQuery)
  if (!data || data.length === 0) return null
  return (
    <Section title={messages.list}>
      <List>
        {data.map((share) => (
          <ShareItem key={share.token} {...share} />
        ))}
      </List>
    </Section>
  )
}

function ShareItem({ token, url, target, createdAt, expiresAt }: Share) {
  const access = useAccess()
  const queries = useQueryClient()

  async function removeShare(): Promise<void> {
    await shares.remove(token)
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
          <CopyButton text={url} what={messages.linkTo(target)} />
          <ConfirmButton
            {...access}
            label={messages.delete}
            about={messages.deleteAbout(target)}
            title={messages.deleteTitle(target)}
            onConfirm={removeShare}
          >
            {messages.deleteText}
          </ConfirmButton>
        </Row>
      }
    >
      {messages.createdAt} <DateText at={createdAt} /> · {messages.until}{' '}
      <DateText at={expiresAt} />
    </ListItem>
  )
}
