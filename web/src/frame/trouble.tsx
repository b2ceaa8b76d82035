import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page } from '../ui/layout/page.tsx'
import { OpenFrame } from './open-frame.tsx'

export function NotFound() {
  return (
    <OpenFrame>
      <Page title="There is nothing here" lead="No page of this Portreeve has this address.">
        <p>
          <Link to="/">Go to the first page</Link>
        </p>
      </Page>
    </OpenFrame>
  )
}

/** A screen that could not be shown: a release replaced its files, the service is away, or we made a mistake. */
export function Broken({ error }: ErrorComponentProps) {
  const router = useRouter()
  return (
    <OpenFrame>
      <Page title="This page could not be shown">
        <Notice tone="bad">{error instanceof Error ? error.message : String(error)}</Notice>
        <div>
          <Button onClick={() => void router.invalidate()}>Try again</Button>
        </div>
      </Page>
    </OpenFrame>
  )
}
