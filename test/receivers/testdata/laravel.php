<?php

// The least of an application of Laravel: what bootstrap/app.php and the configuration do for the routes and the model of docs/grade.md.
use Illuminate\Config\Repository;
use Illuminate\Database\DatabaseServiceProvider;
use Illuminate\Filesystem\FilesystemServiceProvider;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Http\Middleware\VerifyCsrfToken;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Facade;
use Illuminate\Support\Facades\Route;
use Illuminate\View\ViewServiceProvider;
use Symfony\Component\HttpKernel\Exception\HttpExceptionInterface;

require "Illuminate/autoload.php";

$app = new Application(__DIR__);
$app->instance("config", new Repository([
    "app" => ["key" => str_repeat("k", 32), "cipher" => "AES-256-CBC"],
    "database" => ["default" => "file", "connections" => [
        "file" => ["driver" => "sqlite", "database" => __DIR__ . "/database.sqlite", "prefix" => ""],
    ]],
    "services" => ["cauri" => ["secret" => getenv("CAURI_WEBHOOK_SECRET")]],
    "view" => ["paths" => [], "compiled" => __DIR__],
]));
Facade::setFacadeApplication($app);
foreach ([DatabaseServiceProvider::class, FilesystemServiceProvider::class, ViewServiceProvider::class] as $provider) {
    $app->register($provider);
}
$app->boot();
if (!file_exists(__DIR__ . "/database.sqlite")) {
    touch(__DIR__ . "/database.sqlite");
    DB::unprepared(file_get_contents(__DIR__ . "/schema.sql"));
}
require __DIR__ . "/verify.php";
require __DIR__ . "/PaymentEvent.php";
Route::middleware(VerifyCsrfToken::class)->group(__DIR__ . "/web.php");
$request = Request::capture();
$app->instance("request", $request);
try {
    $app["router"]->dispatch($request)->send();
} catch (HttpExceptionInterface $e) {
    http_response_code($e->getStatusCode());
}
