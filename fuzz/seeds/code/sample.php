<?php
namespace Plant;

use Other\Thing;

/** A store. */
#[Attribute]
final class Store extends Base
{
    private int $limit = 3;

    public function get(string $key): ?string
    {
        return "}";
    }
}

function last(): void {}
