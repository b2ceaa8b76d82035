import { Button } from '../actions/button.tsx'
import { Row } from '../layout/page.tsx'

type CountButtonsProps = {
  count: number
  min: number
  max: number
  add: string
  remove: string
  onCount: (count: number) => void
}

/** Buttons that add and remove rows of a form. */
export function CountButtons({ count, min, max, add, remove, onCount }: CountButtonsProps) {
  return (
    <Row>
      {count < max && (
        <Button size="small" onClick={() => onCount(count + 1)}>
          {add}
        </Button>
      )}
      {count > min && (
        <Button size="small" kind="quiet" onClick={() => onCount(count - 1)}>
          {remove}
        </Button>
      )}
    </Row>
  )
}
