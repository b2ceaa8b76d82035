import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page } from '../ui/layout/page.tsx'
import { PublicFrame } from './public-frame.tsx'

export function NotFoundPage() {
  return (
    <PublicFrame>
      <Page title="There is nothing here" lead="No page of this Portreeve has this address.">
        <p>
          <Link to="/">Go to the first page</Link>
        </p>
      </Page>
    </PublicFrame>
  )
}

/** A screen that could not be shown: a release replaced its files, the service is away, or we made a mistake. */
export function ErrorPage({ error }: ErrorComponentProps) {
  const router = useRouter()
  return (
    <PublicFrame>
      <Page title="This page could not be shown">
        <Notice tone="bad">{error instanceof Error ? error.message : String(error)}</Notice>
        <div>
          <Button onClick={() => void router.invalidate()}>Try again</Button>
        </div>
      </Page>
    </PublicFrame>
  )
}
