import { VisuallyHidden } from '../text/visually-hidden.tsx'
import { messages } from '../messages.ts'
import classes from './loading.module.css'
import { markLoading } from './mark-loading.ts'
import { Notice } from './notice.tsx'
import { Skeleton, type SkeletonShape } from './skeleton.tsx'

type LoadingProps = {
  /** Rows, items or fields of the outline. */
  lines: number
  shape?: SkeletonShape
  /**
   * Takes seconds: the text is shown, and so is what follows. Otherwise what follows appears with
   * the data, so that it never moves.
   */
  slow?: boolean
  children: string
}

/** The outline of data that is loading, announced to screen readers. */
export function Loading({ lines, shape = 'text', slow = false, children }: LoadingProps) {
  return (
    <div
      ref={slow ? undefined : markLoading}
      className={classes.waiting}
      role="status"
      data-loading={slow ? undefined : true}
    >
      {slow ? <span>{children}</span> : <VisuallyHidden>{children}</VisuallyHidden>}
      <Skeleton lines={lines} shape={shape} />
    </div>
  )
}

type FetchingProps = LoadingProps & { there: unknown; error: Error | null }

/** Shows an outline while data loads, or the error. Renders nothing once the data is there. */
export function LoadingOrError({ there, error, shape = 'list', ...loading }: FetchingProps) {
  if (error)
    return (
      <Notice tone="bad">
        <p>{error.message}</p>
        {'status' in error && error.status === 404 && <p>{messages.gone}</p>}
      </Notice>
    )
  return there ? null : <Loading shape={shape} {...loading} />
}
